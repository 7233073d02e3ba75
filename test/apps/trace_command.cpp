// `actorflow trace`: one file of what all processes of a job do.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "test/apps/support/trainers.h"
#include "test/support/contains.h"
#include "test/support/folder.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(trace_command)

using namespace actorflow::test;

namespace {

// An event of the file, which has one a line.
struct Event {
  Event() = default;
  explicit Event(const std::string& line)
      : phase(field(line, "\"ph\":\"")),
        process(field(line, "\"pid\":")),
        name(field(line, "\"name\":\"")),
        id(field(line, "\"id\":")),
        argument(field(line, "\"args\":{\"name\":\"")),
        time_us(number(field(line, "\"ts\":"))),
        duration_us(number(field(line, "\"dur\":"))) {}

  // What follows the key; "" without it.
  static std::string field(const std::string& line, const std::string& key) {
    const auto at = line.find(key);
    if (at == std::string::npos) return "";
    const auto begin = at + key.size();
    return line.substr(begin, line.find_first_of("\",}", begin) - begin);
  }
  static std::int64_t number(const std::string& text) { return text.empty() ? 0 : std::stoll(text); }

  std::string phase, process, name, id, argument;
  std::int64_t time_us = 0, duration_us = 0;
};

struct Picture {
  explicit Picture(const std::string& path) {
    std::istringstream lines(read_file(path));
    for (std::string line; std::getline(lines, line);) {
      if (!contains(line, "\"ph\"")) continue;
      const Event event(line);
      if (event.name == "process_name") tasks[event.process] = event.argument;
      if (event.phase == "s") arrows[event.id].first = event;
      if (event.phase == "f") arrows[event.id].second = event;
      if (event.phase == "X") spans.push_back(event);
    }
  }

  // "/job:ps/task:0 > /job:worker/task:1" of each arrow.
  std::set<std::string> ways() const {
    std::set<std::string> found;
    for (const auto& [id, ends] : arrows)
      found.insert(tasks.at(ends.first.process) + " > " + tasks.at(ends.second.process));
    return found;
  }
  bool has(const std::string& task, const std::string& name) const {
    for (const auto& span : spans)
      if (tasks.at(span.process) == task && contains(span.name, name)) return true;
    return false;
  }

  std::map<std::string, std::string> tasks;  // by process
  std::map<std::string, std::pair<Event, Event>> arrows{};
  std::vector<Event> spans;
};

}  // namespace

BOOST_AUTO_TEST_CASE(one_file_has_the_steps_messages_and_waits_of_all_processes) {
  for (const char* mode : {"--sync_replicas", "--batch_size=64"}) {
    const Folder folder;
    Trainers trainers(2, 2, {"--train_steps=1000000", "--data=digits", mode});
    trainers.start_all();
    for (const int worker : {0, 1}) BOOST_TEST(trainers.task("worker", worker).prints("step "));
    const std::string file = folder.file("trace.json");
    Process trace({"actorflow", "trace", trainers.address("ps", 1), "--ms=1000", "-o", file});
    BOOST_TEST(trace.wait() == 0, trace.output());
    const Picture picture(file);
    BOOST_TEST(picture.tasks.size() == 4u);
    const auto ways = picture.ways();
    for (const std::string ps : {"/job:ps/task:0", "/job:ps/task:1"})
      for (const std::string worker : {"/job:worker/task:0", "/job:worker/task:1"}) {
        BOOST_TEST(ways.contains(ps + " > " + worker));
        BOOST_TEST(ways.contains(worker + " > " + ps));
        BOOST_TEST(picture.has(worker, "MatMul"), worker);
        BOOST_TEST(picture.has(ps, "waits for"), ps);
        BOOST_TEST(contains(trace.output(), worker + ":"), trace.output());
      }
    for (const auto& [id, ends] : picture.arrows)
      BOOST_TEST(ends.first.time_us <= ends.second.time_us, ends.first.name);
    for (const auto& span : picture.spans) BOOST_TEST(span.duration_us >= 0, span.name);
  }
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const auto refuses = [](std::vector<std::string> arguments, int status, const std::string& word) {
    arguments.insert(arguments.begin(), {"actorflow", "trace"});
    Process process(arguments);
    BOOST_TEST(process.wait() == status, process.output());
    BOOST_TEST(contains(process.output(), word), process.output());
  };
  const std::string nobody = free_addresses(1)[0];
  refuses({}, 2, "target");
  refuses({nobody, "--ms=0"}, 2, "--ms");
  refuses({nobody, "--ms=60001"}, 2, "--ms");
  refuses({nobody, "--connect_timeout=300"}, 138, nobody);
}

BOOST_AUTO_TEST_SUITE_END()

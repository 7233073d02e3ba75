// A keyed counter service: an actor of our own on each of two tasks counts its share of a text's words.
//
//   counter FILE                                                     two tasks in this process
//   counter --hosts localhost:2222,localhost:2223 --task 0 FILE      two processes; task 0 has the file,
//   counter --hosts localhost:2222,localhost:2223 --task 1           task 1 only counts
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "actors/actorflow.h"
#include "actors/jobs/words.h"
#include "apps/cli/program.h"

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

struct Add {
  std::string_view word;
  std::int64_t by;
};
struct Top {
  std::uint64_t size;
};
using Row = std::pair<std::int64_t, std::string>;
struct Rows {
  std::vector<Row> rows;
};

class Counter final : public NamedActor {
 public:
  Counter() {
    on([this](const Add& add) {
      if (counts_.empty()) spdlog::info("the first word is {}", add.word);
      const auto known = counts_.find(add.word);
      if (known != counts_.end())
        known->second += add.by;
      else
        counts_.emplace(add.word, add.by);
    });
    on([this](const Top& top) {
      Rows rows;
      for (const auto& [word, count] : counts_) rows.rows.emplace_back(count, word);
      std::ranges::sort(rows.rows, std::greater());
      rows.rows.resize(std::min<std::size_t>(rows.rows.size(), top.size));
      return rows;
    });
  }

 private:
  std::map<std::string, std::int64_t, std::less<>> counts_;
};

struct Options {
  std::string text, hosts;
  int task = 0;
  int rounds = 1;
  std::uint64_t top = 10;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw Error(Code::not_found, fmt::format("cannot read '{}': {}", path,
                                             file ? "it is a folder" : std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), {}};
}

void spawn_counter(Server& server) {
  server.spawn("counter", [] { return std::make_unique<Counter>(); });
}

void count(Server& server, const Options& options) {
  std::vector<ActorRef> counters;
  for (const auto& task : server.cluster().all_tasks()) {
    counters.push_back(server.find(task.to_string(), "counter"));
    counters.back().wait_until_there();
  }
  const std::string text = contents(options.text);
  for (int round = 0; round < options.rounds; ++round)
    for (const auto word : Words(text))
      counters[std::hash<std::string_view>()(word) % counters.size()].tell(Add{word, 1});
  std::vector<Row> rows;
  for (const auto& counter : counters) {
    counter.drain();
    std::ranges::move(counter.ask<Rows>(Top{options.top}).get().rows, std::back_inserter(rows));
  }
  std::ranges::sort(rows, std::greater());
  for (std::size_t i = 0; i < std::min<std::size_t>(options.top, rows.size()); ++i)
    fmt::print("{} {}\n", rows[i].first, rows[i].second);
}

void count_in_this_process(const Options& options) {
  LocalCluster cluster({{"counter", 2}});
  for (const int task : {0, 1}) spawn_counter(cluster.server("counter", task));
  count(cluster.server("counter", 0), options);
}

// Without the text it counts until another task ends the job.
void run_task(const Options& options) {
  ServerOptions of_server;
  const auto comma = options.hosts.find(',');
  check_usage([&] {
    of_server.cluster =
        ClusterSpec{{"counter", {options.hosts.substr(0, comma), options.hosts.substr(comma + 1)}}};
  });
  of_server.job = "counter";
  of_server.task = options.task;
  Server server(std::move(of_server));
  spawn_counter(server);
  if (options.text.empty()) return server.join(), throw_if_failed(server);
  try {
    count(server, options);
    server.shutdown_cluster("the words have been counted");
  } catch (const Error& error) {
    server.fail_cluster(error.status());
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("Counts the words of a text on two tasks", "counter");
  Options options;
  program.option("file", options.text, "Whose words are counted");
  program.option("--hosts", options.hosts, "Addresses of the two tasks; none: both in this process");
  program.option("--task", options.task, "The number of this task").check(in_range(0, 1));
  program.option("--rounds", options.rounds, "How often the text is counted").check(positive_number());
  program.option("--top", options.top, "How many words are printed");
  return run_program(program, argc, argv, [&] {
    if (options.hosts.empty() && options.text.empty()) throw UsageError("which FILE is to be counted?");
    options.hosts.empty() ? count_in_this_process(options) : run_task(options);
    return int{success};
  });
}

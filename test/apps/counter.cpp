// Users' actors in real processes: the keyed counter service.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "test/apps/support/process.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(counter)

using namespace actorflow::test;

namespace {

const std::string text = ACTORFLOW_SOURCE_DIR "/apps/data/shakespeare/shakespeare.txt";

// "count word" of the most frequent words, counted plainly.
std::string expected(std::int64_t rounds) {
  std::map<std::string, std::int64_t> counts;
  std::ifstream file(text);
  for (std::string word; file >> word;) counts[word] += rounds;
  std::vector<std::pair<std::int64_t, std::string>> rows;
  for (const auto& [word, count] : counts) rows.emplace_back(count, word);
  std::ranges::sort(rows, std::greater());
  std::ostringstream out;
  for (std::size_t i = 0; i < 10; ++i) out << rows[i].first << ' ' << rows[i].second << '\n';
  return out.str();
}

std::vector<std::string> command(const std::string& hosts, const std::string& task,
                                 const std::vector<std::string>& more) {
  std::vector<std::string> all{"counter", "--hosts", hosts, "--task", task};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string free_hosts() {
  const auto addresses = free_addresses(2);
  return addresses[0] + "," + addresses[1];
}

}  // namespace

BOOST_AUTO_TEST_CASE(words_are_counted_on_two_tasks_of_a_process) {
  Process process({"counter", text});
  BOOST_TEST(process.wait() == 0, process.output());
  BOOST_TEST(process.output().ends_with(expected(1)), process.output());
}

BOOST_AUTO_TEST_CASE(and_on_two_processes_each_once) {
  const std::string hosts = free_hosts();
  Process first(command(hosts, "0", {text, "--rounds=10"})), second(command(hosts, "1", {}));
  BOOST_TEST(first.wait() == 0, first.output());
  BOOST_TEST(first.output().ends_with(expected(10)), first.output());
  BOOST_TEST(second.wait() == 0, second.output());
}

BOOST_AUTO_TEST_CASE(kill_9_of_the_task_of_an_actor_is_told_to_who_sends_to_it) {
  const std::string hosts = free_hosts();
  Process first(command(hosts, "0", {text, "--rounds=1000000"}));
  Process second(command(hosts, "1", {}));
  BOOST_TEST(second.prints("the first word is"), second.output());
  second.send_signal(SIGKILL);
  BOOST_TEST(first.wait() == 138);
  for (const char* part : {"counter: error: ", "/job:counter/task:1", "'counter'"})
    BOOST_TEST(first.output().find(part) != std::string::npos,
               part << " is missing: " << first.output());
}

BOOST_AUTO_TEST_SUITE_END()

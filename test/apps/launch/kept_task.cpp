#include "apps/launch/keeper/kept_task.h"

#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "test/support/hang_limit.h"

BOOST_AUTO_TEST_SUITE(kept_task)

using namespace actorflow;
using namespace actorflow::test;

namespace {

SpawnRequest shell(const std::string& script) {
  SpawnRequest request;
  request.path = "/bin/sh";
  request.arguments = {"/bin/sh", "-c", script};
  request.environment = own_environment();
  return request;
}

// What it prints until it ends.
std::string output_of(KeptTask& task) {
  std::string output;
  const auto sink = [&output](int, const std::string& bytes) { output += bytes; };
  const auto end = std::chrono::steady_clock::now() + hang_limit;
  while (true) {
    std::vector<pollfd> list;
    task.add_to(list);
    poll(list.data(), list.size(), 10);
    task.take_output(sink);
    task.take_words();
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(task.id()), &ended, WEXITED | WNOHANG | WNOWAIT);
    BOOST_REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end, "the task does not end");
    if (ended.si_pid == 0) continue;
    task.finish(sink);
    return output;
  }
}

}  // namespace

// As of a world with thousands of members: more than a socket keeps.
BOOST_AUTO_TEST_CASE(a_long_line_for_a_task_that_reads_late_arrives_whole) {
  KeptTask task(shell("sleep 0.1; head -n 1 <&4 | wc -c"), 0, true);
  task.tell(std::string(3 << 20, 'x'));
  task.tell("\n");
  BOOST_TEST(output_of(task) == std::to_string((3 << 20) + 1) + "\n");
}

BOOST_AUTO_TEST_CASE(words_for_a_task_that_has_closed_its_socket_are_dropped) {
  KeptTask task(shell("exec 4<&-; sleep 0.1; echo done"), 0, true);
  for (int i = 0; i < 3; ++i) task.tell(std::string(1 << 20, 'x'));
  BOOST_TEST(output_of(task) == "done\n");
}

BOOST_AUTO_TEST_SUITE_END()

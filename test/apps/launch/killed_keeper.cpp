// What is left where the process is killed that has started a job's tasks: nothing.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "test/apps/launch/support/launched.h"

BOOST_AUTO_TEST_SUITE(killed_keeper)

using namespace actorflow;
using namespace actorflow::test;

namespace {

int keeper_of(Launched& job) { return parent_of(job.task_with("RANK=0")); }
int guard_of(Launched& job) { return parent_of(keeper_of(job)); }

const std::string is_lost =
    "launch | localhost is lost: its keeper was killed by signal 9 (Killed), and so was what it had "
    "started";

}  // namespace

BOOST_AUTO_TEST_CASE(a_keeper_that_is_killed_leaves_no_process_and_that_is_said) {
  Launched job({"-np", "2"}, sleeping_family);
  job.expect_processes(6);
  kill(keeper_of(job), SIGKILL);
  BOOST_TEST(job.wait() == 1);
  BOOST_TEST(job.last_line() == is_lost);
  BOOST_TEST(marked_processes(job.mark()).empty());
}

BOOST_AUTO_TEST_CASE(a_keeper_that_is_killed_leaves_no_credentials) {
  Launched job({"-np", "1", "--secure"},
               {"/bin/sh", "-c", "echo they are in $ACTORFLOW_CREDENTIALS; exec sleep 1000"});
  BOOST_REQUIRE(job.process().prints("they are in /"));
  const std::string keys = rest_of_line(job.output(), "they are in ");
  BOOST_TEST(std::filesystem::exists(keys));
  kill(keeper_of(job), SIGKILL);
  BOOST_TEST(job.wait() == 1);
  BOOST_TEST(!std::filesystem::exists(keys));
}

BOOST_AUTO_TEST_CASE(a_keeper_ends_all_if_its_guard_is_killed_or_told_to_end) {
  for (const int signal : {SIGKILL, SIGTERM}) {
    Launched job({"-np", "2"}, sleeping_family);
    job.expect_processes(6);
    kill(guard_of(job), signal);
    BOOST_TEST(job.wait() == 143);
    job.expect_nothing_left();
  }
}

BOOST_AUTO_TEST_SUITE_END()

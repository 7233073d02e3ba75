// Jobs on the machines of an allocation, with a real Slurm on machines of their own
// (apps/rehearsal/lan.h).
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>

#include "test/apps/launch/support/hostile_texts.h"
#include "test/apps/launch/support/launched.h"
#include "test/apps/support/machines.h"
#include "test/apps/support/slurm.h"

BOOST_AUTO_TEST_SUITE(launch_slurm, *boost::unit_test::precondition(actorflow::test::has_slurm) *
                                        boost::unit_test::precondition(actorflow::test::has_machines))

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Words = std::vector<std::string>;

const std::string actorflow = ACTORFLOW_BIN_DIR "/actorflow";

// The tasks are on two machines, the launcher is on a third one.
struct Allocation {
  Lan machines{3};
  Slurm slurm{machines, {"node-1", "node-2"}};

  std::unique_ptr<Process> launch(Words arguments, const Words& allocated = {"-N", "2", "-n", "3"}) {
    arguments.insert(arguments.begin(), {actorflow, "launch"});
    return in_allocation(std::move(arguments), allocated);
  }
  std::unique_ptr<Process> in_allocation(Words command,
                                         const Words& allocated = {"-N", "2", "-n", "3"}) {
    command.insert(command.begin(), allocated.begin(), allocated.end());
    command.insert(command.begin(), "/usr/bin/salloc");
    return slurm.start(std::move(command));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(tasks_are_on_the_machines_of_the_allocation, Allocation) {
  const auto job =
      launch({"-np", "3", "--ps", "2", actorflow, "train", "digits", "--epochs", "2", "--insecure"});
  BOOST_TEST(job->wait() == 0, job->output());
  expect(job->output(), "launch | node-1: ps 0 (port ");
  expect(job->output(), "launch | node-2: ps 1 (port ");
  expect(job->output(), "worker 0 | test accuracy");
}

BOOST_FIXTURE_TEST_CASE(one_machine_needs_no_credentials_and_arguments_arrive_byte_equal, Allocation) {
  const Words one{"-N", "1", "-n", "2"};
  const auto training = launch({"-np", "2", actorflow, "train", "digits", "--epochs", "2"}, one);
  BOOST_TEST(training->wait() == 0, training->output());
  expect(training->output(), "worker 0 | test accuracy");
  expect_hostile_texts_arrive([&](const Words& variables, const Words& command) {
    Words arguments{"-np", "1"};
    for (const auto& variable : variables) arguments.insert(arguments.end(), {"--env", variable});
    arguments.insert(arguments.end(), command.begin(), command.end());
    return launch(std::move(arguments), one);
  });
}

BOOST_FIXTURE_TEST_CASE(the_first_failure_ends_the_tasks_of_all_machines, Allocation) {
  const std::string mark = "slurm-" + std::to_string(getpid());
  const auto job = launch({"-np", "3", "--env", "ACTORFLOW_TEST_MARK=" + mark, "/bin/sh", "-c",
                           "echo began on $SLURMD_NODENAME; test $RANK = 2 || exec sleep 1000; exit 7"});
  BOOST_TEST(job->wait() == 7, job->output());
  expect(job->output(), "launch | worker 2 on node-2 ended with status 7\n");
  expect_marked(mark, 0);
}

// The allocation goes on, so it is not Slurm that ends the tasks with it.
BOOST_FIXTURE_TEST_CASE(nothing_is_left_of_a_launcher_that_is_killed, Allocation) {
  const std::string mark = "slurm-killed-" + std::to_string(getpid());
  const auto job =
      in_allocation({"/bin/sh", "-c",
                     "\"$@\" & echo launcher $!; wait; echo it is gone; until [ -e " +
                         slurm.file("end") + " ]; do sleep 0.01; done",
                     "sh", actorflow, "launch", "-np", "3", "--env", "ACTORFLOW_TEST_MARK=" + mark,
                     "/bin/sh", "-c", "echo began; exec sleep 1000"});
  for (const char* task : {"worker 0", "worker 1", "worker 2"})
    BOOST_REQUIRE(job->prints(std::string(task) + " | began"));
  kill(std::stoi(rest_of_line(job->output(), "launcher ")), SIGKILL);
  BOOST_REQUIRE(job->prints("it is gone"));
  expect_marked(mark, 0);
  write_file(slurm.file("end"), "");
  BOOST_TEST(job->wait() == 0);
}

BOOST_FIXTURE_TEST_CASE(machines_that_are_not_fit_are_named_and_nothing_is_started, Allocation) {
  const auto missing = launch({"-np", "3", "/nowhere/program"});
  BOOST_TEST(missing->wait() == 1);
  for (const std::string host : {"node-1", "node-2"})
    expect(missing->output(), host + ": the program '/nowhere/program' is not there");
  const auto nothing = launch({"-np", "2", "--actorflow", "/nowhere/actorflow", "/bin/true"});
  BOOST_TEST(nothing->wait() == 1);
  expect(nothing->output(), "node-1: ");
  expect(nothing->output(), "say with --actorflow where it is");
  const auto many = launch({"-np", "4", "/bin/true"});
  BOOST_TEST(many->wait() == 2);
  expect(many->output(), "available slots (3); have Slurm allocate more, as in salloc -n 4");
}

// As salloc repeats them for a job with GPUs. A step would not get them here, where there are none; with
// labels the keeper's frames were none.
BOOST_FIXTURE_TEST_CASE(keepers_do_not_repeat_what_the_job_has_asked_for, Allocation) {
  const auto job = in_allocation({"/usr/bin/env", "SLURM_GPUS_PER_TASK=1", "SLURM_NTASKS_PER_NODE=2",
                                  "SLURM_EXCLUSIVE=1", "SLURM_MEM_PER_CPU=99999999", "SLURM_LABELIO=1",
                                  actorflow, "launch", "-np", "3", "/bin/sh", "-c", "echo began"});
  BOOST_TEST(job->wait() == 0, job->output());
  for (const char* task : {"worker 0", "worker 1", "worker 2"})
    expect(job->output(), std::string(task) + " | began");
}

BOOST_AUTO_TEST_SUITE_END()

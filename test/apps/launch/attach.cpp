// `actorflow attach`: following a job that runs.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <memory>

#include "test/apps/launch/support/launched.h"

BOOST_AUTO_TEST_SUITE(attach)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A job that says "began", and ends with status 7 when it is told to.
struct Job {
  Folder folder;
  Launched launched{
      {"-np", "1"},
      {"/bin/sh", "-c",
       "echo began; while [ ! -e " + folder.file("end") + " ]; do sleep 0.01; done; echo ends; exit 7"}};

  Job() { BOOST_REQUIRE(launched.process().prints("worker 0 | began")); }
  void end() const { write_file(folder.file("end"), ""); }
  std::string number() { return std::to_string(launched.process().id()); }

  // With the words that the launcher has printed.
  std::unique_ptr<Process> attach() {
    const std::string command = rest_of_line(launched.output(), "to follow it: ");
    BOOST_TEST(command == "actorflow attach " + number() + "; to end it: actorflow stop " + number());
    auto process = std::make_unique<Process>(std::vector<std::string>{"actorflow", "attach", number()});
    BOOST_REQUIRE(process->prints("attached to job " + number()));
    return process;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(it_prints_what_the_job_prints_from_now_on_and_ends_with_its_status, Job) {
  const auto first = attach(), second = attach();
  end();
  BOOST_TEST(launched.wait() == 7);
  for (const auto& follower : {first.get(), second.get()}) {
    BOOST_TEST(follower->wait() == 7);
    const std::string output = follower->output();
    BOOST_TEST(output.find("began") == std::string::npos, output);
    expect(output, "worker 0 | ends\nlaunch | worker 0 on localhost ended with status 7\n");
  }
}

BOOST_FIXTURE_TEST_CASE(ctrl_c_leaves_the_job_alone, Job) {
  const auto follower = attach();
  follower->send_signal(SIGINT);
  BOOST_TEST(follower->wait() == 130);
  expect(follower->output(), "job " + number() + " goes on; to end it: actorflow stop " + number());
  end();
  BOOST_TEST(launched.wait() == 7);
  BOOST_TEST(launched.last_line() == "launch | worker 0 on localhost ended with status 7");
}

BOOST_FIXTURE_TEST_CASE(a_job_that_is_stopped_says_so_to_its_followers, Job) {
  const auto follower = attach();
  Process stop({"actorflow", "stop", number()});
  BOOST_TEST(stop.wait() == 0);
  BOOST_TEST(follower->wait() == 143);
  expect(follower->output(), "launch | ended by actorflow stop");
}

BOOST_FIXTURE_TEST_CASE(a_launcher_that_is_killed_is_told_from_the_end_of_a_job, Job) {
  const auto follower = attach();
  launched.process().send_signal(SIGKILL);
  BOOST_TEST(follower->wait() == 138);
  expect(follower->output(), "the launcher of job " + number() + " is gone without a word");
}

BOOST_FIXTURE_TEST_CASE(followers_that_are_killed_leave_the_job_alone, Job) {
  const auto follower = attach(), other = attach();
  follower->send_signal(SIGKILL);
  BOOST_TEST(follower->wait() == 137);
  end();
  BOOST_TEST(other->wait() == 7);
  BOOST_TEST(launched.wait() == 7);
}

BOOST_AUTO_TEST_CASE(a_reader_who_goes_away_ends_the_follower_alone) {
  Launched job({"-np", "1"}, {"/bin/sh", "-c", "echo began; while :; do echo again; sleep 0.01; done"});
  BOOST_REQUIRE(job.process().prints("worker 0 | began"));
  const std::string number = std::to_string(job.process().id());
  Process follower({"/bin/bash", "-c", "\"$0\" attach " + number + " | head -1; exit ${PIPESTATUS[0]}",
                    ACTORFLOW_BIN_DIR "/actorflow"});
  BOOST_TEST(follower.wait() == 141);
  Process stop({"actorflow", "stop", number});
  BOOST_TEST(stop.wait() == 0);
  BOOST_TEST(job.wait() == 143);
}

// What it prints is more than what waits for a follower.
BOOST_AUTO_TEST_CASE(a_follower_that_reads_nothing_holds_up_nobody_and_learns_what_it_has_missed) {
  const Folder folder;
  const auto until = [&folder](const std::string& file) {
    return "while [ ! -e " + folder.file(file) + " ]; do sleep 0.01; done; ";
  };
  Launched job({"-np", "1"}, {"/bin/sh", "-c",
                              "echo began; " + until("go") +
                                  "head -c 20000000 /dev/zero | tr '\\0' x | fold -w 100000; echo; echo "
                                  "printed; " +
                                  until("end") + "echo ends"});
  BOOST_REQUIRE(job.process().prints("worker 0 | began"));
  const std::string number = std::to_string(job.process().id());
  Process follower({"actorflow", "attach", number});
  BOOST_REQUIRE(follower.prints("attached to job"));
  follower.send_signal(SIGSTOP);
  write_file(folder.file("go"), "");
  BOOST_REQUIRE(job.process().prints("worker 0 | printed"));
  follower.send_signal(SIGCONT);
  BOOST_REQUIRE(follower.prints("worker 0 | xxx"));
  write_file(folder.file("end"), "");
  BOOST_TEST(job.wait() == 0);
  BOOST_TEST(follower.wait() == 0);
  expect(follower.output(), " lines were left out: whoever reads this is slower than the job");
  expect(follower.output(), "launch | every task has ended well");
}

BOOST_AUTO_TEST_CASE(a_job_that_does_not_run_is_not_found) {
  for (const char* name : {"1", "x", "../1"}) {
    Process follower({"actorflow", "attach", name});
    BOOST_TEST(follower.wait() == 1);
    expect(follower.output(), std::string("no job '") + name + "' runs here; ");
  }
}

BOOST_FIXTURE_TEST_CASE(without_a_name_it_lists_the_jobs_that_run, Job) {
  Process list({"actorflow", "attach"});
  BOOST_TEST(list.wait() == 0);
  expect("\n" + list.output(), "\n" + number() + "\n");
}

BOOST_AUTO_TEST_SUITE_END()

// The batch file of `actorflow launch --to slurm` as Slurm begins it again: after a lost rank, and after
// a more important job.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "apps/launch/deploy/deploy_command.h"
#include "test/apps/support/process.h"
#include "test/apps/support/slurm.h"
#include "test/support/hang_limit.h"

BOOST_AUTO_TEST_SUITE(batch_job, *boost::unit_test::precondition(actorflow::test::has_slurm))

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A job that trains until it is cancelled.
struct BatchJob {
  Slurm slurm;
  const std::string log = slurm.file("log");

  BatchJob() {
    JobSpec job;
    job.command = {"/bin/sh",
                   "-c",
                   R"(echo "rank $SLURM_PROCID is process $$"; exec "$0" "$@")",
                   ACTORFLOW_BIN_DIR "/actorflow",
                   "train",
                   "digits",
                   "--train_steps",
                   "1000000",
                   "--save_checkpoint_steps",
                   "200",
                   "--checkpoint_dir",
                   slurm.file("run")};
    job.workers = 3;
    job.ps = 2;
    job.restarts = 1;
    DeployOptions options;
    options.to = "slurm";
    options.output = slurm.file("batch");
    BOOST_TEST(deploy_command(options, job) == 0);
    run({"/usr/bin/sbatch", "--chdir=" + std::filesystem::path(slurm.file("")).string(),
         "--output=" + log, slurm.file("batch")});
  }
  // Nothing of it is left when Slurm ends.
  ~BatchJob() {
    run({"/usr/bin/scancel", "1"});
    run({"/bin/sh", "-c", "while [ \"$(squeue --noheader)\" ]; do sleep 0.1; done"});
  }

  void run(std::vector<std::string> command) const {
    const auto process = slurm.start(std::move(command));
    BOOST_TEST(process->wait() == 0, process->output());
  }
  // What it prints from the line on.
  Process follow(const std::string& first_line) const {
    return Process({"/usr/bin/tail", "--lines=" + first_line, "--retry", "--follow=name", log});
  }
  // Slurm delays a requeued job by two minutes, since slurmd refuses a credential of the second in which
  // the previous run ended, after which Slurm ends the job ("Job credential revoked"). So we ask for the
  // next second, and once: each request moves the start.
  void begin_at_once() const {
    wait_until_it_is("PENDING");
    run({"/usr/bin/scontrol", "update", "JobId=1", "StartTime=now+1"});
    wait_until_it_is("RUNNING");
  }

  void expect(Process& shown, const std::string& text) const {
    BOOST_REQUIRE_MESSAGE(shown.prints(text), "'" << text << "' is not in:\n"
                                                  << shown.output() << state());
  }

 private:
  static constexpr auto ended_states = {"CANCELLED\n", "COMPLETED\n", "FAILED\n", "NODE_FAIL\n"};

  std::string output_of(std::vector<std::string> command) const {
    const auto process = slurm.start(std::move(command));
    process->wait();
    return process->output();
  }
  // What Slurm knows of the job, and what it has done with it.
  std::string state() const {
    return output_of({"/usr/bin/scontrol", "show", "job", "1"}) +
           output_of({"/bin/grep", "JobId=1", slurm.file("slurmctld.log")});
  }
  void wait_until_it_is(const std::string& wanted) const {
    const auto end = std::chrono::steady_clock::now() + hang_limit;
    std::string now;
    do {
      now = output_of({"/usr/bin/squeue", "--noheader", "--states=all", "--format=%T", "--jobs=1"});
      if (now == wanted + "\n") return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    } while (std::ranges::count(ended_states, now) == 0 && std::chrono::steady_clock::now() < end);
    BOOST_FAIL("the job is not " << wanted << " but " << now << state());
  }
};

int number_after(const std::string& text, const std::string& before) {
  const auto at = text.find(before);
  BOOST_REQUIRE_MESSAGE(at != text.npos, "'" << before << "' is not in:\n" << text);
  return std::stoi(text.substr(at + before.size()));
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(it_goes_on_from_its_checkpoints_after_a_lost_rank_and_when_it_gives_way,
                        BatchJob) {
  Process first = follow("+1");
  expect(first, "/step-200.");
  kill(number_after(first.output(), "rank 1 is process "), SIGKILL);
  expect(first, "status 137: to be started again from the newest checkpoint");
  expect(first, "DUE TO JOB REQUEUE");
  begin_at_once();
  expect(first, "info restored step ");
  const int step = number_after(first.output(), "info restored step ");
  BOOST_TEST(step >= 200);

  Process second = follow("0");
  expect(second, "info saved ");
  run({"/usr/bin/scontrol", "requeue", "1"});  // as Slurm does it for a more important job
  expect(second, "the chief was interrupted");
  begin_at_once();
  expect(second, "info restored step ");
  BOOST_TEST(number_after(second.output(), "info restored step ") > step);
}

BOOST_AUTO_TEST_SUITE_END()

// The batch file of `actorflow launch --to slurm` as Slurm begins it again: after a lost rank, and after
// a more important job.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <string>

#include "apps/launch/deploy/deploy_command.h"
#include "test/apps/support/process.h"
#include "test/apps/support/slurm.h"

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
    job.workers = 2;
    job.ps = 1;
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
  // Slurm lets a job that begins again wait for two minutes.
  void begin_at_once() const {
    run({"/bin/sh", "-c",
         "until [ \"$(squeue --noheader --format=%T)\" = RUNNING ]; do "
         "scontrol update JobId=1 StartTime=now; sleep 0.2; done"});
  }
};

int number_after(const std::string& text, const std::string& before) {
  const auto at = text.find(before);
  BOOST_REQUIRE_MESSAGE(at != text.npos, "'" << before << "' is not in:\n" << text);
  return std::stoi(text.substr(at + before.size()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_job, *boost::unit_test::precondition(has_slurm))

BOOST_FIXTURE_TEST_CASE(it_goes_on_from_its_checkpoints_after_a_lost_rank_and_when_it_gives_way,
                        BatchJob) {
  Process first = follow("+1");
  BOOST_REQUIRE(first.prints("/step-200."));
  kill(number_after(first.output(), "rank 1 is process "), SIGKILL);
  BOOST_REQUIRE(first.prints("status 137: to be started again from the newest checkpoint"));
  BOOST_REQUIRE(first.prints("DUE TO JOB REQUEUE"));
  begin_at_once();
  BOOST_REQUIRE(first.prints("info restored step "));
  const int step = number_after(first.output(), "info restored step ");
  BOOST_TEST(step >= 200);

  Process second = follow("0");
  BOOST_REQUIRE(second.prints("info saved "));
  run({"/usr/bin/scontrol", "requeue", "1"});  // as Slurm does it for a more important job
  BOOST_REQUIRE(second.prints("the chief was interrupted"));
  begin_at_once();
  BOOST_REQUIRE(second.prints("info restored step "));
  BOOST_TEST(number_after(second.output(), "info restored step ") > step);
}

BOOST_AUTO_TEST_SUITE_END()

// Programs that mpirun, srun and their like start, without any flag: the real launchers where they are
// there, and the variables that they set.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/machines.h"
#include "test/apps/support/open_mpi.h"
#include "test/apps/support/process.h"
#include "test/apps/support/python.h"
#include "test/apps/support/slurm.h"
#include "test/support/contains.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(launchers)

using namespace actorflow::test;

namespace {

using Words = std::vector<std::string>;

std::string program(const std::string& name) { return ACTORFLOW_BIN_DIR "/" + name; }

// The processes of a job, as Open MPI's mpirun starts them on one machine.
std::vector<std::unique_ptr<Process>> as_mpirun(int ranks, const Words& command,
                                                const Words& more = {}) {
  const std::string job = "PMIX_NAMESPACE=" + free_addresses(1)[0];  // the job's own
  std::vector<std::unique_ptr<Process>> processes;
  for (int rank = 0; rank < ranks; ++rank) {
    Words words{"/usr/bin/env",
                job,
                "OMPI_COMM_WORLD_RANK=" + std::to_string(rank),
                "OMPI_COMM_WORLD_SIZE=" + std::to_string(ranks),
                "OMPI_COMM_WORLD_LOCAL_RANK=" + std::to_string(rank),
                "OMPI_COMM_WORLD_LOCAL_SIZE=" + std::to_string(ranks)};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), command.begin(), command.end());
    processes.push_back(std::make_unique<Process>(std::move(words)));
  }
  return processes;
}

void expect_success(const std::vector<std::unique_ptr<Process>>& processes) {
  for (const auto& process : processes) BOOST_TEST(process->wait() == 0, process->output());
}

// Of the Python packages.
const std::string mpirun = ACTORFLOW_PYTHON_ENVIRONMENT "/bin/mpirun";

const std::string mpich = "/usr/bin/mpirun.mpich";

boost::test_tools::assertion_result has_mpich(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(std::filesystem::exists(mpich));
  result.message() << "no MPICH here, see test/optional_packages";
  return result;
}

const Words train_digits{"train", "digits", "--epochs", "2", "--strategy", "multi_worker"};

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_find_each_other_by_their_numbers_alone) {
  const auto ranks = as_mpirun(3, {program("all_reduce"), "--rounds", "2"});
  expect_success(ranks);
  for (int rank = 0; rank < 3; ++rank)
    BOOST_TEST(contains(ranks[static_cast<std::size_t>(rank)]->output(),
                        "rank " + std::to_string(rank) + " of 3 adds"));
}

BOOST_AUTO_TEST_CASE(several_jobs_at_once_do_not_mix) {
  std::vector<std::vector<std::unique_ptr<Process>>> jobs;
  for (int job = 0; job < 3; ++job)
    jobs.push_back(as_mpirun(2, {program("all_reduce"), "--rounds", "2"}));
  for (const auto& job : jobs) expect_success(job);
}

BOOST_AUTO_TEST_CASE(some_ranks_may_be_parameter_servers) {
  const auto ranks =
      as_mpirun(3, {program("actorflow"), "train", "digits", "--epochs", "2"}, {"ACTORFLOW_PS=1"});
  expect_success(ranks);
  BOOST_TEST(contains(ranks[0]->output(), "/job:worker/task:0"), ranks[0]->output());
  BOOST_TEST(contains(ranks[2]->output(), "/job:ps/task:0"), ranks[2]->output());
}

BOOST_AUTO_TEST_CASE(the_chief_shows_the_progress_of_all_ranks) {
  const auto ranks = as_mpirun(
      2, {program("actorflow"), "train", "digits", "--epochs", "2", "--strategy", "multi_worker"});
  expect_success(ranks);
  BOOST_TEST(contains(ranks[0]->output(), "examples/s"), ranks[0]->output());
  BOOST_TEST(!contains(ranks[1]->output(), "examples/s"), ranks[1]->output());
}

BOOST_AUTO_TEST_CASE(a_model_of_ones_own_and_an_estimator_need_no_flag) {
  expect_success(as_mpirun(2, {program("iris")}));
  const Folder folder;
  expect_success(as_mpirun(2, {program("flowers"), "--model_dir", folder.path()}));
}

BOOST_AUTO_TEST_CASE(a_job_of_map_and_reduce_needs_no_flag) {
  const Folder folder;
  write_file(folder.file("text"), "to be or not to be\n");
  expect_success(as_mpirun(
      2, {program("word_count"), "--input", folder.file("text"), "--output", folder.file("counts")}));
  BOOST_TEST(std::filesystem::exists(folder.file("counts/_SUCCESS")));
}

BOOST_AUTO_TEST_CASE(a_rank_that_never_comes_is_named_and_the_status_says_that_trying_again_is_of_use) {
  const auto ranks =
      as_mpirun(3, {"/bin/sh", "-c", "[ $OMPI_COMM_WORLD_RANK = 1 ] || exec " + program("all_reduce")},
                {"ACTORFLOW_MEETING_TIMEOUT=2"});
  for (const std::size_t rank : {0, 2}) {
    BOOST_TEST(ranks[rank]->wait() == 138);
    BOOST_TEST(contains(ranks[rank]->output(), "rank 1 of 3 did not come"), ranks[rank]->output());
  }
}

BOOST_AUTO_TEST_CASE(wrong_variables_are_named_and_the_status_is_that_of_wrong_arguments) {
  Process process({"/usr/bin/env", "RANK=7", "WORLD_SIZE=4", program("all_reduce")});
  BOOST_TEST(process.wait() == 2);
  BOOST_TEST(contains(process.output(), "RANK is '7', but expected is a number from 0 to 3"),
             process.output());
}

BOOST_AUTO_TEST_CASE(under_mpirun, *boost::unit_test::precondition(has_python)) {
  Process sum(with_mpirun(mpirun, 3, {program("all_reduce")}));
  BOOST_TEST(sum.wait() == 0, sum.output());
  BOOST_TEST(contains(sum.output(), "rank 2 of 3 adds"), sum.output());
  Words command = train_digits;
  command.insert(command.begin(), program("actorflow"));
  Process training(with_mpirun(mpirun, 4, command));
  BOOST_TEST(training.wait() == 0, training.output());
  BOOST_TEST(contains(training.output(), "/job:worker/task:3"), training.output());
}

BOOST_AUTO_TEST_CASE(under_the_mpirun_of_open_mpi, *boost::unit_test::precondition(has_open_mpi)) {
  Process sum(with_mpirun(open_mpi, 3, {program("all_reduce")}));
  BOOST_TEST(sum.wait() == 0, sum.output());
  for (const char* rank : {"0", "1", "2"})
    BOOST_TEST(contains(sum.output(), std::string("rank ") + rank + " of 3 adds"), sum.output());
  Process servers(with_mpirun(
      open_mpi, 3,
      {"/usr/bin/env", "ACTORFLOW_PS=1", program("actorflow"), "train", "digits", "--epochs", "2"}));
  BOOST_TEST(servers.wait() == 0, servers.output());
  for (const char* task : {"/job:worker/task:0", "/job:worker/task:1", "/job:ps/task:0"})
    BOOST_TEST(contains(servers.output(), task), servers.output());
}

// mpirun ends the others, with the status of the first that has failed.
BOOST_AUTO_TEST_CASE(a_rank_that_fails_under_mpirun_gives_its_status,
                     *boost::unit_test::precondition(has_open_mpi)) {
  Process job(with_mpirun(open_mpi, 2,
                          {"/bin/sh", "-c",
                           "[ $OMPI_COMM_WORLD_RANK = 0 ] && exit 7; exec " + program("all_reduce") +
                               " --rounds 100000000 --bytes 8"}));
  BOOST_TEST(job.wait() == 7, job.output());
}

// It says to no job which one it is: two at once may not mix.
BOOST_AUTO_TEST_CASE(under_the_mpirun_of_mpich, *boost::unit_test::precondition(has_mpich)) {
  Process sum({mpich, "-np", "3", program("all_reduce")});
  Words command{mpich, "-np", "2", program("actorflow")};
  command.insert(command.end(), train_digits.begin(), train_digits.end());
  Process training(command);
  BOOST_TEST(sum.wait() == 0, sum.output());
  BOOST_TEST(contains(sum.output(), "rank 2 of 3 adds"), sum.output());
  BOOST_TEST(training.wait() == 0, training.output());
  BOOST_TEST(contains(training.output(), "/job:worker/task:1"), training.output());
}

BOOST_AUTO_TEST_CASE(under_srun, *boost::unit_test::precondition(has_slurm)) {
  const Slurm slurm;
  const auto sum = slurm.start({"/usr/bin/srun", "-n", "3", program("all_reduce")});
  BOOST_TEST(sum->wait() == 0, sum->output());
  BOOST_TEST(contains(sum->output(), "rank 2 of 3 adds"), sum->output());
  Words command = train_digits;
  command.insert(command.begin(), {"/usr/bin/srun", "-n", "4", program("actorflow")});
  const auto training = slurm.start(command);
  BOOST_TEST(training->wait() == 0, training->output());
  BOOST_TEST(contains(training->output(), "/job:worker/task:3"), training->output());
}

BOOST_AUTO_TEST_CASE(under_srun_on_two_machines,
                     *boost::unit_test::precondition(has_slurm) *
                         boost::unit_test::precondition(actorflow::test::has_machines)) {
  actorflow::Lan machines(3);
  const Slurm slurm(machines, {"node-1", "node-2"});
  Words command = train_digits;
  command.insert(command.begin(),
                 {"/usr/bin/srun", "--nodes=2", "-n", "4", "--label", program("actorflow")});
  command.emplace_back("--insecure");
  const auto training = slurm.start(command);
  BOOST_TEST(training->wait() == 0, training->output());
  BOOST_TEST(contains(training->output(), "/job:worker/task:3"), training->output());
  BOOST_TEST(machines.counts().carried > 0u);
}

BOOST_AUTO_TEST_CASE(kill_9_of_a_rank_under_srun_ends_the_others_and_names_it,
                     *boost::unit_test::precondition(has_slurm)) {
  const Slurm slurm;
  const auto job = slurm.start({"/usr/bin/srun", "-n", "3", "/bin/sh", "-c",
                                "echo rank $SLURM_PROCID is process $$; exec " + program("all_reduce") +
                                    " --rounds 100000000 --bytes 8"});
  for (int rank = 0; rank < 3; ++rank)
    BOOST_REQUIRE(job->prints("rank " + std::to_string(rank) + " of 3 adds"));
  const std::string text = job->output(), begin = "rank 1 is process ";
  kill(std::stoi(text.substr(text.find(begin) + begin.size())), SIGKILL);
  BOOST_TEST(job->wait() >= 128, job->output());  // 137, or theirs: that is srun's choice
  BOOST_TEST(contains(job->output(), "rank 1 (/job:worker/task:1) is lost"), job->output());
}

BOOST_AUTO_TEST_SUITE_END()

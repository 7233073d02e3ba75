// Jobs by ssh on machines of their own (apps/rehearsal/lan.h), with an sshd on each.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "test/apps/launch/support/launched.h"
#include "test/apps/launch/support/ssh_server.h"
#include "test/apps/support/machines.h"

BOOST_AUTO_TEST_SUITE(launch_machines, *boost::unit_test::precondition(actorflow::test::has_ssh_server) *
                                           boost::unit_test::precondition(actorflow::test::has_machines))

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::string actorflow = ACTORFLOW_BIN_DIR "/actorflow";

constexpr const char* says_where_it_is_and_trains =
    R"(echo "at $PWD with $ACTORFLOW_DATA_DIR and GPUs <$CUDA_VISIBLE_DEVICES>"
       exec "$0" train digits --train_steps 1000000 --save_checkpoint_steps 500 \
         --checkpoint_dir "$ACTORFLOW_OUTPUT_DIR/run" --insecure)";

// Starts a launcher on machine 0.
std::unique_ptr<Process> launch_from(const Lan& machines, const SshServer& servers,
                                     std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {ACTORFLOW_BIN_DIR "/actorflow", "launch", "--ssh_config", servers.client_config()});
  return std::make_unique<Process>(machines.on(0, std::move(arguments)));
}

// The tasks are on machines 1 and 2.
struct Cluster {
  Lan machines{3};
  SshServer servers{machines, {"node-1", "node-2"}};

  std::unique_ptr<Process> launch(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"-H", "node-1:1,node-2:2", "-np", "3"});
    return launch_from(machines, servers, std::move(arguments));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(tasks_of_different_machines_train_together, Cluster) {
  const auto job = launch(
      {"--ps", "2", ACTORFLOW_BIN_DIR "/actorflow", "train", "digits", "--epochs", "2", "--insecure"});
  BOOST_TEST(job->wait() == 0);
  expect(job->output(), "launch | node-1: ps 0 (port ");
  expect(job->output(), "launch | node-2: ps 1 (port ");
  expect(job->output(), "worker 0 | test accuracy");
}

// As a managed service does it: the folders are given, and what the job has saved is read while it
// trains.
BOOST_FIXTURE_TEST_CASE(hybrid_has_a_ps_and_a_worker_on_each_machine_and_saves_readably, Cluster) {
  const Folder folder;
  for (const char* name : {"data", "output", "work"})
    std::filesystem::create_directory(folder.file(name));
  const auto job = launch_from(
      machines, servers,
      {"-H", "node-1,node-2", "--hybrid", "--num_gpus", "2", "--data_dir", folder.file("data"),
       "--output_dir", folder.file("output"), "--work_dir", folder.file("work"), "--log_dir",
       folder.file("logs"), "/bin/sh", "-c", says_where_it_is_and_trains, actorflow});
  for (const char* line : {"launch | node-1: ps 0 (port ", "launch | node-2: ps 1 (port "})
    BOOST_REQUIRE(job->prints(line));
  const std::string place = "at " + folder.file("work") + " with " + folder.file("data");
  for (const char* task : {"ps 0", "ps 1"})
    BOOST_REQUIRE(job->prints(std::string(task) + " | " + place + " and GPUs <>\n"));
  for (const char* task : {"worker 0", "worker 1"})
    BOOST_REQUIRE(job->prints(std::string(task) + " | " + place + " and GPUs <0,1>\n"));
  BOOST_REQUIRE(job->prints("worker 1 | step"));
  const std::string run = folder.file("output/run");
  BOOST_REQUIRE(job->prints("/step-500."));
  Process verify({actorflow, "checkpoint", "verify", run});
  BOOST_TEST(verify.wait() == 0, verify.output());
  job->send_signal(SIGINT);
  BOOST_TEST(job->wait() == 130);
  expect(read_file(folder.file("logs/worker-1.log")), "step");
}

BOOST_FIXTURE_TEST_CASE(folders_that_one_machine_lacks_are_named_before_anything_starts, Cluster) {
  const auto job =
      launch({"--data_dir", "/nowhere", "--output_dir", "/etc/passwd", "/bin/sh", "-c", "echo started"});
  BOOST_TEST(job->wait() == 1);
  for (const std::string host : {"node-1", "node-2"})
    expect(job->output(), host +
                              ": --data_dir '/nowhere' is no folder there: No such file or directory; "
                              "--output_dir '/etc/passwd' is no folder there");
  BOOST_TEST(job->output().find("started") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(machines_that_do_not_reach_each_other_are_named_before_anything_starts,
                        Cluster) {
  machines.separate({{1, 2}});
  const auto job = launch({"/bin/sh", "-c", "echo started"});
  BOOST_TEST(job->wait() == 1);
  expect(job->output(), "node-1: it does not reach node-2:");
  expect(job->output(), "no answer for 3 s; a firewall may be between them");
  BOOST_TEST(job->output().find("started") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(all_machines_that_one_does_not_reach_are_named) {
  Lan machines(7);
  const std::vector<std::string> names{"node-1", "node-2", "node-3", "node-4", "node-5", "node-6"};
  const SshServer servers(machines, names);
  machines.separate({{1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}});
  const auto job = launch_from(
      machines, servers,
      {"-H", "node-1,node-2,node-3,node-4,node-5,node-6", "-np", "6", "/bin/sh", "-c", "echo started"});
  BOOST_TEST(job->wait() == 1);
  for (std::size_t i = 1; i < names.size(); ++i) {
    expect(job->output(), "it does not reach " + names[i] + ":");
    expect(job->output(), names[i] + ": it does not reach node-1:");
  }
  BOOST_TEST(job->output().find("started") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_machine_that_is_lost_ends_the_job_and_is_named, Cluster) {
  const std::string mark = "machines-" + std::to_string(getpid());
  const auto job =
      launch({"--env", "ACTORFLOW_TEST_MARK=" + mark, "/bin/sh", "-c", "echo started; exec sleep 1000"});
  for (const char* task : {"worker 0", "worker 1", "worker 2"})
    BOOST_REQUIRE(job->prints(std::string(task) + " | started"));
  machines.cut_off({2});
  BOOST_TEST(job->wait() == 1);
  expect(job->output(), "launch | node-2 is lost: ");
  // Its tasks end as soon as the keeper there learns that nobody is at the other end.
  machines.join_all();
  expect_marked(mark, 0);
}

BOOST_AUTO_TEST_SUITE_END()

// A program with a model as every task of a cluster: `iris` with TF_CONFIG.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "test/apps/support/tf_config_cluster.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(model_clusters)

using namespace actorflow::test;

namespace {

using Flags = std::vector<std::string>;

Flags iris_with(Flags flags) {
  flags.insert(flags.begin(), ACTORFLOW_BIN_DIR "/iris");
  return flags;
}

Flags joined(Flags first, const Flags& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::string accuracy_of(Process& process) { return last_line_with(" % of 150 flowers", process); }

// The tasks of a job, which all run `iris`.
struct ModelCluster : TfConfigCluster {
  ModelCluster(const Jobs& jobs, Flags flags, Flags before = {})
      : TfConfigCluster(joined(std::move(before), iris_with(std::move(flags))), jobs) {}

  // The last line of the chief, when all have ended well.
  std::string result(const std::string& chief) {
    expect_all_end(0);
    return accuracy_of(process(chief, 0));
  }
};

const Jobs three{{"ps", 2}, {"chief", 1}, {"worker", 2}};  // three that train
const Flags epochs{"--epochs=60"};
const Flags own_data{"--epochs=60", "--own_examples=40,90,20"};
const Flags staged{"--epochs=60", "--stages=2"};  // no more: the model has two layers

std::string undisturbed(const Jobs& jobs, const std::string& chief, const Flags& flags = epochs) {
  ModelCluster cluster(jobs, flags);
  cluster.start_all();
  return cluster.result(chief);
}

const std::string& undisturbed_three() {
  static const std::string once = undisturbed(three, "chief");
  return once;
}

// Kills a task in the middle, which comes back.
std::string with_loss_of(const std::string& job, int task, const Jobs& jobs = three,
                         const std::string& chief = "chief", Flags flags = epochs) {
  const Folder folder;
  flags.push_back("--checkpoint_dir=" + folder.path());
  ModelCluster cluster(jobs, flags);
  cluster.start_all();
  BOOST_REQUIRE_MESSAGE(cluster.process(chief, 0).prints("epoch 10/"),
                        cluster.process(chief, 0).output());
  cluster.replace(job, task);
  return cluster.result(chief);
}

// The two layers in two places of one process.
std::string staged_in_one_process() {
  Process process(iris_with(staged));
  BOOST_TEST(process.wait() == 0, process.output());
  return accuracy_of(process);
}

}  // namespace

BOOST_AUTO_TEST_CASE(tasks_with_and_without_parameter_servers_learn_the_same) {
  const std::string with_ps = undisturbed({{"ps", 2}, {"chief", 1}, {"worker", 1}}, "chief");
  BOOST_TEST(std::stod(with_ps) > 95, with_ps);
  BOOST_TEST(undisturbed({{"worker", 2}}, "worker") == with_ps);
}

// It knows the built-in operations, and nothing of the model.
BOOST_AUTO_TEST_CASE(a_parameter_server_may_be_the_command_server) {
  ModelCluster cluster({{"ps", 1}, {"chief", 1}, {"worker", 2}}, epochs);
  Process server(
      {"actorflow", "server", "--cluster", cluster.description(), "--job", "ps", "--task", "0"});
  cluster.start("chief", 0);
  for (const int worker : {0, 1}) cluster.start("worker", worker);
  for (Process* task : {&cluster.process("chief", 0), &cluster.process("worker", 0),
                        &cluster.process("worker", 1), &server})
    BOOST_TEST(task->wait() == 0, task->output());
  BOOST_TEST(accuracy_of(cluster.process("chief", 0)) == undisturbed_three());
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("worker", 0) == undisturbed_three());
}

BOOST_AUTO_TEST_CASE(a_parameter_server_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("ps", 0) == undisturbed_three());
}

BOOST_AUTO_TEST_CASE(a_chief_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("chief", 0) == undisturbed_three());
}

// The second worker makes 23 steps of an epoch, the others 10 and 5 before they join.
BOOST_AUTO_TEST_CASE(workers_with_data_of_their_own_that_are_killed_and_come_back_change_nothing) {
  const Jobs workers{{"worker", 3}};
  const std::string learned = undisturbed(workers, "worker", own_data);
  BOOST_TEST(std::stod(learned) > 90, learned);
  for (const int lost : {0, 1, 2})
    BOOST_TEST(with_loss_of("worker", lost, workers, "worker", own_data) == learned);
}

// It fails each save of a checkpoint, and of the steps of an epoch, within which a worker is lost.
BOOST_AUTO_TEST_CASE(a_failing_disk_changes_nothing_for_workers_with_data_of_their_own) {
  const Jobs workers{{"worker", 3}};
  const Folder folder;
  const std::string rules = folder.file("rules");
  write_file(rules, "fsync .safetensors 5\nfsync steps-of-epoch 5\n");  // EIO
  ModelCluster cluster(workers, joined(own_data, {"--checkpoint_dir=" + folder.file("checkpoints")}),
                       {"/usr/bin/env", "LD_PRELOAD=" ACTORFLOW_BROKEN_DISK, "BROKEN_DISK=" + rules});
  cluster.start_all();
  Process& chief = cluster.process("worker", 0);
  BOOST_REQUIRE_MESSAGE(chief.prints("a replica that starts when training is complete will wait"),
                        chief.output());
  BOOST_REQUIRE_MESSAGE(chief.prints("epoch 10/"), chief.output());
  cluster.replace("worker", 1);
  write_file(rules, "");
  BOOST_TEST(cluster.result("worker") == undisturbed(workers, "worker", own_data));
}

// No task is lost in this one and the next, in which each of two names the other.
BOOST_AUTO_TEST_CASE(a_chief_that_cannot_read_its_own_data_tells_the_others) {
  ModelCluster cluster({{"worker", 2}}, {"--own_examples=40,90"});
  cluster.start("worker", 1);
  cluster.start("worker", 0, {"--data=/nowhere/iris.csv"});
  cluster.expect_all_end(1);
  const std::string told = cluster.process("worker", 1).output();
  BOOST_TEST(told.find("the chief failed: there is no data file /nowhere/iris.csv") != std::string::npos,
             told);
}

BOOST_AUTO_TEST_CASE(a_worker_that_alone_has_data_of_its_own_is_refused) {
  for (const int alone : {0, 1}) {
    ModelCluster cluster({{"worker", 2}}, epochs);
    cluster.start("worker", 1 - alone);
    cluster.start("worker", alone, {"--own_examples=40,90"});
    cluster.expect_all_end(1);
    const std::string both =
        fmt::format("auto_shard_policy: /job:worker/task:{} has off, /job:worker/task:{} has data",
                    alone, 1 - alone);
    for (const int task : {0, 1}) {
      const std::string output = cluster.process("worker", task).output();
      BOOST_TEST(output.find(both) != std::string::npos, output);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_stages_of_a_pipeline_may_be_tasks) {
  const std::string alone = staged_in_one_process();
  BOOST_TEST(std::stod(alone) > 95, alone);
  BOOST_TEST(undisturbed({{"worker", 2}}, "worker", staged) == alone);
  BOOST_TEST(undisturbed({{"chief", 1}, {"worker", 1}}, "chief", staged) == alone);
}

// Of one pipeline, which has no task besides its stages; below there are two.
BOOST_AUTO_TEST_CASE(a_stage_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("worker", 1, {{"worker", 2}}, "worker", staged) == staged_in_one_process());
}

BOOST_AUTO_TEST_CASE(the_stage_that_runs_the_pipeline_may_be_killed_too) {
  BOOST_TEST(with_loss_of("worker", 0, {{"worker", 2}}, "worker", staged) == staged_in_one_process());
}

BOOST_AUTO_TEST_CASE(two_pipelines_of_two_stages_train_together) {
  const Jobs workers{{"worker", 4}};
  const Flags flags{"--epochs=40", "--stages=2", "--micro_batches=2"};
  const std::string four = undisturbed(workers, "worker", flags);
  BOOST_TEST(std::stod(four) > 95, four);
  BOOST_TEST(with_loss_of("worker", 3, workers, "worker", flags) == four);
}

BOOST_AUTO_TEST_SUITE_END()

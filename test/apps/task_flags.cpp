// Tasks of a cluster, each a process, whose flags contradict each other, or do not fit the cluster.
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "actors/runtime/exit_status.h"
#include "test/apps/support/tf_config_cluster.h"

BOOST_AUTO_TEST_SUITE(task_flags)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Words = std::vector<std::string>;
using TaskOfJob = std::pair<std::string, int>;

const std::vector<TaskOfJob> all_tasks{
    {"ps", 0}, {"ps", 1}, {"worker", 0}, {"worker", 1}, {"worker", 2}};
const Words three_hundred_steps{"--train_steps=300"};  // asynchronous, by the model's own optimizer
const Words synchronous{"--train_steps=300", "--sync_replicas"};

// Two parameter servers and three workers, of which `other` has flags of its own and is started first.
struct Trainers : TfConfigCluster {
  Trainers(const TaskOfJob& other, const Words& of_other, const Words& of_others)
      : TfConfigCluster({ACTORFLOW_BIN_DIR "/trainer", "--data=digits"}, {{"ps", 2}, {"worker", 3}}) {
    start(other.first, other.second, of_other);
    for (const auto& [job, task] : all_tasks)
      if (TaskOfJob(job, task) != other) start(job, task, of_others);
  }

  void expect_told(const TaskOfJob& task, int status, const Words& parts) {
    Process& told = process(task.first, task.second);
    BOOST_TEST(told.wait() == status, told.output());
    for (const auto& part : parts)
      BOOST_TEST(told.output().find(part) != std::string::npos,
                 task.first << " " << task.second << " lacks '" << part << "': " << told.output());
  }
};

}  // namespace

// Nobody can make a step before it has come.
BOOST_AUTO_TEST_CASE(a_worker_that_contradicts_a_synchronous_chief_ends_all_by_name) {
  Trainers trainers({"worker", 1}, {"--train_steps=200", "--optimizer=sgd"}, synchronous);
  for (const auto& task : all_tasks)
    trainers.expect_told(
        task, 1,
        {"start all tasks with the same: ",
         "strategy: /job:worker/task:1 has asynchronous, /job:worker/task:0 has synchronous",
         "; train_steps: /job:worker/task:1 has 200, /job:worker/task:0 has 300",
         "optimizer: /job:worker/task:1 has sgd 0.2, /job:worker/task:0 has adam 0.001"});
}

// The others may train by then, and go on.
BOOST_AUTO_TEST_CASE(a_synchronous_worker_beside_asynchronous_ones_is_refused_by_name) {
  Trainers trainers({"worker", 2}, {"--train_steps=1000001", "--sync_replicas"},
                    {"--train_steps=1000000"});
  trainers.expect_told({"worker", 2}, 1,
                       {"strategy: /job:worker/task:2 has synchronous, all gradients, "
                        "/job:worker/task:0 has asynchronous",
                        "train_steps: /job:worker/task:2 has 1000001, /job:worker/task:0 has 1000000"});
}

BOOST_AUTO_TEST_CASE(a_parameter_server_that_contradicts_the_chief_ends_all_by_name) {
  Trainers trainers({"ps", 1}, {"--train_steps=200", "--sync_replicas", "--optimizer=sgd"},
                    three_hundred_steps);
  for (const auto& task : all_tasks)
    trainers.expect_told(task, 1,
                         {"strategy: /job:ps/task:1 has synchronous, all gradients, "
                          "/job:worker/task:0 has asynchronous",
                          "train_steps: /job:ps/task:1 has 200, /job:worker/task:0 has 300",
                          "optimizer: /job:ps/task:1 has sgd 0.2, /job:worker/task:0 has adam 0.001"});
}

BOOST_AUTO_TEST_CASE(a_parameter_server_that_was_told_the_default_contradicts_another_value) {
  Trainers trainers({"ps", 0}, {"--seed=1", "--not_finite=fail"},
                    {"--train_steps=300", "--seed=2", "--not_finite=skip"});
  for (const auto& task : all_tasks)
    trainers.expect_told(task, 1,
                         {"seed: /job:ps/task:0 has 1, /job:worker/task:0 has 2",
                          "not_finite: /job:ps/task:0 has fail, /job:worker/task:0 has skip"});
}

BOOST_AUTO_TEST_CASE(a_parameter_server_needs_no_flags_of_training) {
  Trainers trainers({"ps", 0}, {}, {"--train_steps=20", "--sync_replicas", "--optimizer=sgd"});
  trainers.expect_all_end(0);
}

BOOST_AUTO_TEST_CASE(a_task_whose_strategy_does_not_fit_the_cluster_tells_the_others) {
  const Words reason{"--strategy=multi_worker has no parameter servers, but the cluster has a job 'ps'"};
  for (const TaskOfJob& other : {TaskOfJob("worker", 1), TaskOfJob("worker", 0), TaskOfJob("ps", 1)}) {
    Trainers trainers(other, {"--train_steps=300", "--strategy=multi_worker"}, synchronous);
    for (const auto& task : all_tasks) trainers.expect_told(task, task == other ? bad_usage : 1, reason);
  }
}

BOOST_AUTO_TEST_SUITE_END()

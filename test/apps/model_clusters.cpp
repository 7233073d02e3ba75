// A program with a model as every task of a cluster: `iris` with TF_CONFIG.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <map>
#include <memory>

#include "test/apps/support/ports.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

using namespace actorflow::test;

namespace {

// The tasks of a job, by their names.
class ModelCluster {
 public:
  // Jobs and the numbers of their tasks.
  ModelCluster(const std::map<std::string, int>& jobs, std::vector<std::string> flags)
      : flags_(std::move(flags)) {
    int count = 0;
    for (const auto& [job, tasks] : jobs) count += tasks;
    const auto addresses = free_addresses(count);
    auto address = addresses.begin();
    for (const auto& [job, tasks] : jobs) {
      std::string hosts;
      for (int task = 0; task < tasks; ++task) {
        hosts += (task == 0 ? "\"" : ", \"") + *address++ + "\"";
        tasks_.emplace_back(job, task);
      }
      cluster_ += (cluster_.empty() ? "\"" : ", \"") + job + "\": [" + hosts + "]";
    }
  }

  void start(const std::string& job, int task) {
    std::vector<std::string> command{"/usr/bin/env",
                                     "TF_CONFIG={\"cluster\": {" + cluster_ +
                                         "}, \"task\": {\"type\": \"" + job +
                                         "\", \"index\": " + std::to_string(task) + "}}",
                                     ACTORFLOW_BIN_DIR "/iris"};
    command.insert(command.end(), flags_.begin(), flags_.end());
    processes_[{job, task}] = std::make_unique<Process>(std::move(command));
  }
  void start_all() {
    for (const auto& [job, task] : tasks_) start(job, task);
  }
  Process& process(const std::string& job, int task) { return *processes_.at({job, task}); }

  // kill -9, and another process in the task's place.
  void replace(const std::string& job, int task) {
    process(job, task).send_signal(SIGKILL);
    process(job, task).wait();
    start(job, task);
  }

  // The last line of the chief, when all have ended well.
  std::string result(const std::string& chief) {
    for (const auto& [task, process] : processes_) {
      const int status = process->wait();
      BOOST_TEST(status == 0, task.first << " " << task.second << " ended with status " << status
                                         << ":\n"
                                         << process->output());
    }
    return last_line(process(chief, 0).output());
  }

  static std::string last_line(const std::string& output) {
    const auto found = output.find(" % of 150 flowers");
    BOOST_REQUIRE_MESSAGE(found != std::string::npos, output);
    return output.substr(output.rfind('\n', found) + 1);
  }

 private:
  std::vector<std::string> flags_;
  std::string cluster_;
  std::vector<std::pair<std::string, int>> tasks_;
  std::map<std::pair<std::string, int>, std::unique_ptr<Process>> processes_;
};

using Jobs = std::map<std::string, int>;
using Flags = std::vector<std::string>;

const Flags epochs{"--epochs=150"};
const Flags staged{"--epochs=150", "--stages=2"};

std::string undisturbed(const Jobs& jobs, const std::string& chief, const Flags& flags = epochs) {
  ModelCluster cluster(jobs, flags);
  cluster.start_all();
  return cluster.result(chief);
}

// Kills a task in the middle, which comes back.
std::string with_loss_of(const std::string& job, int task,
                         const Jobs& jobs = {{"ps", 1}, {"chief", 1}, {"worker", 1}},
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
  Flags command{ACTORFLOW_BIN_DIR "/iris"};
  command.insert(command.end(), staged.begin(), staged.end());
  Process process(command);
  BOOST_TEST(process.wait() == 0, process.output());
  return ModelCluster::last_line(process.output());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_clusters)

BOOST_AUTO_TEST_CASE(tasks_with_and_without_parameter_servers_learn_the_same) {
  const std::string with_ps = undisturbed({{"ps", 2}, {"chief", 1}, {"worker", 1}}, "chief");
  BOOST_TEST(std::stod(with_ps) > 95, with_ps);
  BOOST_TEST(undisturbed({{"worker", 2}}, "worker") == with_ps);
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("worker", 0) ==
             undisturbed({{"ps", 1}, {"chief", 1}, {"worker", 1}}, "chief"));
}

BOOST_AUTO_TEST_CASE(a_parameter_server_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("ps", 0) == undisturbed({{"ps", 1}, {"chief", 1}, {"worker", 1}}, "chief"));
}

BOOST_AUTO_TEST_CASE(a_chief_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("chief", 0) == undisturbed({{"ps", 1}, {"chief", 1}, {"worker", 1}}, "chief"));
}

BOOST_AUTO_TEST_CASE(the_stages_of_a_pipeline_may_be_tasks) {
  const std::string alone = staged_in_one_process();
  BOOST_TEST(std::stod(alone) > 95, alone);
  BOOST_TEST(undisturbed({{"worker", 2}}, "worker", staged) == alone);
  BOOST_TEST(undisturbed({{"chief", 1}, {"worker", 1}}, "chief", staged) == alone);
}

BOOST_AUTO_TEST_CASE(a_stage_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("worker", 1, {{"worker", 2}}, "worker", staged) == staged_in_one_process());
}

BOOST_AUTO_TEST_CASE(the_stage_that_runs_the_pipeline_may_be_killed_too) {
  BOOST_TEST(with_loss_of("worker", 0, {{"worker", 2}}, "worker", staged) == staged_in_one_process());
}

BOOST_AUTO_TEST_CASE(two_pipelines_of_two_stages_train_together) {
  const std::string four =
      undisturbed({{"worker", 4}}, "worker", {"--epochs=150", "--stages=2", "--micro_batches=2"});
  BOOST_TEST(std::stod(four) > 95, four);
  BOOST_TEST(with_loss_of("worker", 3, {{"worker", 4}}, "worker",
                          {"--epochs=150", "--stages=2", "--micro_batches=2"}) == four);
}

BOOST_AUTO_TEST_SUITE_END()

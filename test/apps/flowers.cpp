// An estimator as every task of a cluster: `flowers` with TF_CONFIG, and alone.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "actors/checkpoint/checkpoint.h"
#include "actors/events/event_reader.h"
#include "test/apps/support/ports.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t max_steps = 600;

std::vector<std::string> flowers(const std::string& model_dir) {
  return {ACTORFLOW_BIN_DIR "/flowers", "--model_dir=" + model_dir,
          "--max_steps=" + std::to_string(max_steps), "--save_checkpoints_steps=50"};
}

// The tasks of a job, which all run `flowers` in one folder: two parameter servers, a chief, two workers,
// and an evaluator, which is no part of their cluster.
class FlowerCluster {
 public:
  explicit FlowerCluster(std::string model_dir) : model_dir_(std::move(model_dir)) {
    const auto addresses = free_addresses(5);
    cluster_ = R"({"ps": [")" + addresses[0] + R"(", ")" + addresses[1] + R"("], "chief": [")" +
               addresses[2] + R"("], "worker": [")" + addresses[3] + R"(", ")" + addresses[4] + R"("]})";
  }

  void start(const std::string& job, int task) {
    std::vector<std::string> command{"/usr/bin/env", "TF_CONFIG={\"cluster\": " + cluster_ +
                                                         ", \"task\": {\"type\": \"" + job +
                                                         "\", \"index\": " + std::to_string(task) + "}}"};
    for (const auto& word : flowers(model_dir_)) command.push_back(word);
    processes_[{job, task}] = std::make_unique<Process>(std::move(command));
  }
  void start_all() {
    for (const auto& [job, tasks] :
         std::map<std::string, int>{{"ps", 2}, {"chief", 1}, {"worker", 2}, {"evaluator", 1}})
      for (int task = 0; task < tasks; ++task) start(job, task);
  }
  Process& process(const std::string& job, int task) { return *processes_.at({job, task}); }

  // kill -9, and another process in the task's place.
  void replace(const std::string& job, int task) {
    process(job, task).send_signal(SIGKILL);
    process(job, task).wait();
    start(job, task);
  }

  // The exit status of every task is this one.
  void expect_all_end(int status) {
    for (const auto& [task, process] : processes_) {
      const int actual = process->wait();
      BOOST_TEST(actual == status, task.first << " " << task.second << " ended with status " << actual
                                              << ":\n"
                                              << process->output());
    }
  }

 private:
  std::string model_dir_, cluster_;
  std::map<std::pair<std::string, int>, std::unique_ptr<Process>> processes_;
};

// The steps that were evaluated.
std::vector<std::int64_t> evaluated_steps(const Folder& folder) {
  std::vector<std::int64_t> steps;
  EventReader reader(posix_storage(), folder.file("eval"));
  for (const Event& event : reader.poll())
    if (std::holds_alternative<std::vector<Summary>>(event.what)) steps.push_back(event.step);
  std::ranges::sort(steps);
  return steps;
}

// What the process that evaluates prints in the end.
std::string result(Process& process) {
  const std::string output = process.output();
  const auto found = output.find(" % of 30 flowers");
  BOOST_REQUIRE_MESSAGE(found != std::string::npos, output);
  return output.substr(output.rfind('\n', found) + 1);
}

// Training has reached its last step, each checkpoint was evaluated at most once, the last one was, and
// was exported.
void expect_complete(const Folder& folder) {
  const auto last = load_latest_checkpoint(posix_storage(), folder.path());
  BOOST_TEST_REQUIRE(last.has_value());
  BOOST_TEST(last->global_step == max_steps);
  const auto steps = evaluated_steps(folder);
  BOOST_TEST(steps.back() == max_steps);
  std::map<std::int64_t, int> times;
  for (const auto step : steps) ++times[step];
  for (const auto& [step, scalars] : times) BOOST_TEST(scalars == times.at(max_steps), "step " << step);
  BOOST_TEST(std::filesystem::exists(folder.file("export/model.onnx")));
}

std::string undisturbed() {
  const Folder folder;
  FlowerCluster cluster(folder.path());
  cluster.start_all();
  cluster.expect_all_end(0);
  expect_complete(folder);
  return result(cluster.process("evaluator", 0));
}

// Kills a task in the middle, which comes back.
std::string with_loss_of(const std::string& job, int task) {
  const Folder folder;
  FlowerCluster cluster(folder.path());
  cluster.start_all();
  BOOST_REQUIRE_MESSAGE(cluster.process("chief", 0).prints("step 101: loss"),
                        cluster.process("chief", 0).output());
  cluster.replace(job, task);
  cluster.expect_all_end(0);
  expect_complete(folder);
  return result(cluster.process("evaluator", 0));
}

double percentage(const std::string& result) { return std::stod(result); }

}  // namespace

BOOST_AUTO_TEST_SUITE(flowers)

BOOST_AUTO_TEST_CASE(a_cluster_learns_what_a_process_alone_learns) {
  const Folder folder;
  Process alone(flowers(folder.path()));
  BOOST_TEST(alone.wait() == 0, alone.output());
  expect_complete(folder);
  BOOST_TEST(percentage(result(alone)) > 96.6);
  const std::string together = undisturbed();
  BOOST_TEST(percentage(together) > 96.6);
}

BOOST_AUTO_TEST_SUITE_END()

// An estimator as every task of a cluster: `flowers` with TF_CONFIG, and alone.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <map>

#include "actors/checkpoint/checkpoint.h"
#include "actors/events/event_reader.h"
#include "test/apps/support/tf_config_cluster.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(flowers)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t max_steps = 600;

std::vector<std::string> flowers_in(const std::string& model_dir) {
  return {ACTORFLOW_BIN_DIR "/flowers", "--model_dir=" + model_dir,
          "--max_steps=" + std::to_string(max_steps), "--save_checkpoints_steps=50"};
}

const Jobs with_servers{{"ps", 2}, {"chief", 1}, {"worker", 2}};
const Jobs without_servers{{"worker", 2}};

// The tasks of a cluster, and an evaluator, which is no part of it; all run `flowers` in one folder.
struct FlowerCluster : TfConfigCluster {
  explicit FlowerCluster(const std::string& model_dir, const Jobs& jobs = with_servers)
      : TfConfigCluster(flowers_in(model_dir), jobs, {{"evaluator", 1}}) {}
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
std::string result(Process& process) { return last_line_with(" % of 30 flowers", process); }

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

// What the evaluator prints in the end.
std::string result_of(const Jobs& jobs) {
  const Folder folder;
  FlowerCluster cluster(folder.path(), jobs);
  cluster.start_all();
  cluster.expect_all_end(0);
  expect_complete(folder);
  return result(cluster.process("evaluator", 0));
}

const std::string& undisturbed() {
  static const std::string once = result_of(with_servers);
  return once;
}

// Begins, and waits until training is in the middle.
void begin(FlowerCluster& cluster) {
  cluster.start_all();
  BOOST_REQUIRE_MESSAGE(cluster.process("chief", 0).prints("step 101: loss"),
                        cluster.process("chief", 0).output());
}

// Kills a task in the middle, which comes back.
std::string with_loss_of(const std::string& job, int task) {
  const Folder folder;
  FlowerCluster cluster(folder.path());
  begin(cluster);
  cluster.replace(job, task);
  cluster.expect_all_end(0);
  expect_complete(folder);
  return result(cluster.process("evaluator", 0));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_process_alone_and_clusters_learn_well) {
  const Folder folder;
  Process alone(flowers_in(folder.path()));
  BOOST_TEST(alone.wait() == 0, alone.output());
  expect_complete(folder);
  for (const std::string& end : {result(alone), undisturbed(), result_of(without_servers)})
    BOOST_TEST(std::stod(end) > 96.6, end);
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("worker", 1) == undisturbed());
}

BOOST_AUTO_TEST_CASE(a_parameter_server_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("ps", 1) == undisturbed());
}

BOOST_AUTO_TEST_CASE(a_chief_that_is_killed_and_comes_back_changes_nothing) {
  BOOST_TEST(with_loss_of("chief", 0) == undisturbed());
}

BOOST_AUTO_TEST_CASE(an_evaluator_that_is_killed_and_comes_back_repeats_nothing) {
  BOOST_TEST(with_loss_of("evaluator", 0) == undisturbed());
}

BOOST_AUTO_TEST_CASE(a_job_that_is_terminated_saves_and_goes_on_later) {
  const Folder folder;
  FlowerCluster cluster(folder.path());
  begin(cluster);
  cluster.send_all(SIGTERM);
  cluster.expect_all_end(130);
  const auto saved = load_latest_checkpoint(posix_storage(), folder.path());
  BOOST_TEST(saved->global_step > 100);  // the last one that was due
  BOOST_TEST(!std::filesystem::exists(folder.file("export")));
  cluster.start_all();
  cluster.expect_all_end(0);
  expect_complete(folder);
  BOOST_TEST(result(cluster.process("evaluator", 0)) == undisturbed());
}

BOOST_AUTO_TEST_CASE(a_job_that_is_complete_is_not_trained_again) {
  const Folder folder;
  FlowerCluster cluster(folder.path());
  cluster.start_all();
  cluster.expect_all_end(0);
  const auto last_write = [&] {
    return std::filesystem::last_write_time(*latest_checkpoint(posix_storage(), folder.path()));
  };
  const auto before = last_write();
  cluster.start_all();
  cluster.expect_all_end(0);
  BOOST_TEST((last_write() == before));
  expect_complete(folder);
}

BOOST_AUTO_TEST_CASE(a_folder_in_which_nothing_can_be_saved_is_refused_by_every_task) {
  const Folder folder;
  write_file(folder.file("taken"), "a file");
  FlowerCluster cluster(folder.file("taken"));
  cluster.start_all();
  cluster.expect_all_end(1);
  for (const auto& [job, task] : {std::pair("chief", 0), std::pair("ps", 1), std::pair("evaluator", 0)})
    BOOST_TEST(
        cluster.process(job, task).prints("'" + folder.file("taken") + "' is a file, not a folder"),
        cluster.process(job, task).output());
}

BOOST_AUTO_TEST_SUITE_END()

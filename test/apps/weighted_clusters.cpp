// Weights of classes, frozen layers and callbacks in clusters of processes: tasks that are killed, a
// disk and allocations that fail, and tasks whose settings contradict each other. Each task is a
// fit_trainer (weighted/).
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "test/apps/support/tf_config_cluster.h"
#include "test/support/folder.h"
#include "test/support/sanitized.h"
#include "test/support/saved_steps.h"

BOOST_AUTO_TEST_SUITE(weighted_clusters)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Flags = std::vector<std::string>;

const Flags weighted{"--class_weight", "0", "1", "1", "2.5", "2", "0.5"};
const Flags frozen{"--freeze", "dense"};
const Flags both{"--class_weight", "0", "1", "1", "2.5", "2", "0.5", "--freeze", "dense"};
const Jobs with_ps{{"ps", 2}, {"chief", 1}, {"worker", 2}}, ranks{{"worker", 3}};
// What loses no task needs two that train.
const Jobs two_with_ps{{"ps", 1}, {"chief", 1}, {"worker", 1}}, two_ranks{{"worker", 2}};

Flags joined(Flags first, const Flags& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Flags trainer(const Flags& flags) { return joined({ACTORFLOW_BIN_DIR "/fit_trainer"}, flags); }

struct WeightedCluster : TfConfigCluster {
  WeightedCluster(const Jobs& jobs, const Flags& command)
      : TfConfigCluster(command, jobs), chief_job(jobs.contains("chief") ? "chief" : "worker") {}

  Process& chief() { return process(chief_job, 0); }
  // The hash of what was learned, when all tasks have ended well.
  std::string result() {
    expect_all_end(0);
    return last_line_with("weights ", chief());
  }
  void expect_print(const std::string& text) {
    BOOST_REQUIRE_MESSAGE(chief().prints(text), chief().output());
  }

  std::string chief_job;
};

std::string undisturbed(const Jobs& jobs, const Flags& flags) {
  WeightedCluster cluster(jobs, trainer(flags));
  cluster.start_all();
  return cluster.result();
}

// Kills a task in the middle, which comes back.
std::string with_loss_of(const std::string& job, int task, const Jobs& jobs, const Flags& flags = both) {
  const Folder folder;
  WeightedCluster cluster(jobs, trainer(joined(flags, {"--checkpoint_dir", folder.path()})));
  cluster.start_all();
  cluster.expect_print("epoch 10/");
  cluster.replace(job, task);
  return cluster.result();
}

boost::test_tools::assertion_result memory_can_be_scarce(boost::unit_test::test_unit_id) {
  return !sanitized;  // a sanitizer's allocator ends the program
}

enum class First { chief, worker };

// A chief and a worker with other flags end, whoever comes first, and say what each of them has.
void expect_refused(const Jobs& jobs, First first, const Flags& of_chief, const Flags& of_worker,
                    const std::vector<std::string>& parts) {
  WeightedCluster cluster(jobs, trainer({"--epochs=100000"}));
  const int worker = jobs.contains("chief") ? 0 : 1;
  if (jobs.contains("ps")) cluster.start("ps", 0, of_chief);
  if (first == First::chief) cluster.start(cluster.chief_job, 0, of_chief);
  cluster.start("worker", worker, of_worker);
  if (first == First::worker) {
    BOOST_TEST(cluster.process("worker", worker).prints(" wait"));
    cluster.start(cluster.chief_job, 0, of_chief);
  }
  cluster.expect_all_end(1);
  for (Process* task : {&cluster.chief(), &cluster.process("worker", worker)})
    for (const std::string& part : parts)
      BOOST_TEST(task->output().find(part) != std::string::npos, task->output()
                                                                     << " lacks '" << part << "'");
}

}  // namespace

BOOST_AUTO_TEST_CASE(weights_and_frozen_layers_change_what_is_learned) {
  const std::string plain = undisturbed(two_ranks, {});
  for (const Flags& flags : {weighted, frozen, both}) BOOST_TEST(undisturbed(two_ranks, flags) != plain);
}

BOOST_AUTO_TEST_CASE(a_task_that_is_killed_and_comes_back_changes_nothing) {
  const std::string expected = undisturbed(with_ps, both);
  for (const char* job : {"worker", "ps", "chief"})
    BOOST_TEST(with_loss_of(job, 0, with_ps) == expected, job);
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_killed_and_comes_back_changes_nothing) {
  const std::string expected = undisturbed(ranks, both);
  for (const int rank : {0, 2}) BOOST_TEST(with_loss_of("worker", rank, ranks) == expected, rank);
}

BOOST_AUTO_TEST_CASE(a_chief_that_is_killed_and_comes_back_knows_what_callbacks_have_seen) {
  const Flags averaged{"--average"};
  BOOST_TEST(with_loss_of("chief", 0, with_ps, averaged) == undisturbed(with_ps, averaged));
  BOOST_TEST(with_loss_of("worker", 0, ranks, averaged) == undisturbed(ranks, averaged));
}

// It fails each save for a while, within which a task is lost; weights alone are saved, too.
BOOST_AUTO_TEST_CASE(a_failing_disk_changes_nothing) {
  const std::string expected = undisturbed(with_ps, both);
  const Folder folder;
  const std::string rules = folder.file("rules"), weights = folder.file("weights");
  write_file(rules, "fsync .safetensors 5");  // EIO
  WeightedCluster cluster(
      with_ps, joined({"/usr/bin/env", "LD_PRELOAD=" ACTORFLOW_BROKEN_DISK, "BROKEN_DISK=" + rules},
                      trainer(joined(both, {"--weights_dir", weights, "--checkpoint_dir",
                                            folder.file("checkpoints")}))));
  cluster.start_all();
  cluster.expect_print("cannot save the model in " + weights + ", all else goes on");
  cluster.expect_print("was not saved, training goes on");
  cluster.replace("worker", 0);
  write_file(rules, "");
  BOOST_TEST(cluster.result() == expected);
  const auto saved = load_latest_checkpoint(posix_storage(), weights);
  BOOST_TEST_REQUIRE(saved.has_value());
  BOOST_TEST(last_line_with("weights ", cluster.chief()) ==
             fmt::format("weights {:016x}\n", hash_of(saved->tensors)));
}

// Each task goes on, or ends and is started again.
BOOST_AUTO_TEST_CASE(allocations_that_fail_now_and_then_change_nothing,
                     *boost::unit_test::precondition(memory_can_be_scarce)) {
  const Flags flags = joined(both, {"--epochs=250"});
  const std::string expected = undisturbed(with_ps, flags);
  const Folder folder;
  WeightedCluster cluster(with_ps, joined({"/usr/bin/env", "LD_PRELOAD=" ACTORFLOW_SCARCE_MEMORY,
                                           "SCARCE_MEMORY_EVERY=400000", ACTORFLOW_BIN_DIR "/actorflow",
                                           "supervise", "--pause", "0.1", "--longest_pause", "0.1"},
                                          trainer(joined(flags, {"--checkpoint_dir", folder.path()}))));
  cluster.start_all();
  // Each loss costs steps, and as much time as the machine takes.
  constexpr std::int64_t last_step = 250 * 13;
  BOOST_REQUIRE_MESSAGE(comes_to_step(folder.path(), last_step), cluster.chief().output());
  BOOST_TEST(cluster.result() == expected);
  std::string output;
  for (const auto& [job, tasks] : with_ps)
    for (int task = 0; task < tasks; ++task) output += cluster.process(job, task).output();
  BOOST_TEST(output.find("an allocation fails here") != std::string::npos, output);
  BOOST_TEST(output.find("crashed by SIGSEGV") == std::string::npos, output);
}

BOOST_AUTO_TEST_CASE(tasks_with_other_weights_of_classes_are_refused_when_they_meet) {
  for (const Jobs& jobs : {two_with_ps, two_ranks}) {
    expect_refused(jobs, First::worker, weighted, {},
                   {"class_weight: ", " has none", " has 0: 1, 1: 2.5, 2: 0.5"});
    expect_refused(jobs, First::chief, {}, weighted,
                   {"class_weight: ", " has 0: 1, 1: 2.5, 2: 0.5", " has none"});
  }
}

BOOST_AUTO_TEST_CASE(tasks_with_other_frozen_layers_are_refused_when_they_meet) {
  for (const Jobs& jobs : {two_with_ps, two_ranks}) {
    expect_refused(jobs, First::worker, frozen, {}, {"frozen layers: ", " has none", " has dense"});
    expect_refused(jobs, First::chief, frozen, {"--freeze", "dense_1"},
                   {"frozen layers: ", " has dense_1", " has dense"});
  }
}

BOOST_AUTO_TEST_SUITE_END()

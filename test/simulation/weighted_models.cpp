// Model::fit() with weights of classes and a frozen layer, in a simulated cluster: tasks that are
// killed, a bad disk, an input that runs out of memory, and tasks that contradict each other.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/models/model.h"
#include "actors/simulation/seeds.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(weighted_models)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

using Weights = std::map<std::string, Tensor>;

// 30 points of three classes.
TrainingData points() {
  constexpr std::int64_t count = 30;
  std::vector<float> x;
  std::vector<std::int64_t> classes;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(static_cast<float>(i) / 10 - 1);
    classes.push_back(i % 7 == 0 ? 1 : i / 10);
  }
  return {Tensor::of<float>({count, 1}, x), Tensor::of<std::int64_t>({count}, classes)};
}

struct Task {
  ClassWeight class_weight{{0, 1}, {1, 2.5}, {2, 0.5}};
  std::string frozen = "dense";
};

const ReplicaOptions resumable{.strategy = Synchronous{},
                               .checkpoint_folder = "checkpoints",
                               .save_checkpoint = {.steps = 5},
                               .mark_end = true};

Weights learn(const Distribution& strategy, const Task& task = {}, const TrainingData& data = points()) {
  Model model = sequential(input({1}), {dense(4, tanh), dropout(0.1), dense(3)});
  if (!task.frozen.empty()) model.get_layer(task.frozen).set_trainable(false);
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.05}});
  model.fit(data, {.epochs = 8,
                   .batch_size = 12,
                   .class_weight = task.class_weight,
                   .verbosity = Verbosity::silent,
                   .strategy = strategy});
  return is_chief(strategy) ? model.weights() : Weights{};
}

using Program = Weights (*)(SimTask&);

// A strategy with the tasks that it needs.
struct Cluster {
  std::vector<SimCluster::Job> jobs;
  std::string chief;
  Program program;
  std::vector<std::string> lost;  // tasks, of which a test kills one

  Weights undisturbed() const { return SimCluster(jobs).start(program).finish(chief); }
};

const Cluster servers{{{"ps", 2}, {"chief", 1}, {"worker", 2}},
                      "/job:chief/task:0",
                      [](SimTask& task) {
                        return learn(ParameterServer{task.server(), resumable});
                      },
                      {"/job:ps/task:1", "/job:worker/task:0", "/job:chief/task:0"}};
const Cluster ranks{{{"worker", 3}},
                    "/job:worker/task:0",
                    [](SimTask& task) {
                      return learn(MultiWorkerMirrored{task.server(), resumable});
                    },
                    {"/job:worker/task:0", "/job:worker/task:2"}};
// Two pipelines of two stages.
const Cluster stages{
    {{"worker", 4}},
    "/job:worker/task:0",
    [](SimTask& task) {
      return learn(Pipeline{task.server(), {.stages = 2, .micro_batches = 3}, resumable});
    },
    {"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:3"}};

void expect_same(const Weights& learned, const Weights& expected) {
  BOOST_TEST_REQUIRE(learned.size() == expected.size());
  for (const auto& [name, value] : expected) BOOST_TEST(identical(learned.at(name), value), name);
}

std::uint64_t seed() { return of_this_seed({}).seed; }

// The tasks of a cluster, one of which is killed at a moment of this seed and comes back.
void expect_nothing_changed(const Cluster& cluster, const Weights& expected,
                            std::optional<FaultKind> disk = {}) {
  SimCluster sim(cluster.jobs, of_this_seed({.time_limit = 10min, .restart_failed = 1s}));
  auto run = sim.start(cluster.program);
  const auto begin = std::chrono::milliseconds(20 + 9 * (seed() % 16));
  if (disk) sim.at(begin).fault(*disk, 3s);
  const std::string& lost = cluster.lost[seed() % cluster.lost.size()];
  sim.at(begin + 30ms).kill(lost);
  sim.at(begin + 2s).restart(lost);
  expect_same(run.finish(cluster.chief), expected);
}

// The points as a dataset. Its element number `left`, of those that all tasks read, fails; 0: none.
TrainingData out_of_memory_after(std::shared_ptr<std::uint64_t> left) {
  return points().elements().map([left = std::move(left)](Tuple element) {
    if (*left > 0 && --*left == 0) throw std::bad_alloc();
    return element;
  });
}

Weights learn_out_of_memory_after(std::uint64_t elements) {
  const auto left = std::make_shared<std::uint64_t>(elements);
  SimCluster sim(ranks.jobs, of_this_seed({.time_limit = 10min, .restart_failed = 1s}));
  auto run = sim.start([left](SimTask& task) {
    return learn(MultiWorkerMirrored{task.server(), resumable}, {}, out_of_memory_after(left));
  });
  Weights learned = run.finish(ranks.chief);
  BOOST_TEST(*left == 0U);
  return learned;
}

Task of(SimTask& task, const Task& chiefs, const Task& others) {
  return task.server().name().to_string() == ranks.chief ? chiefs : others;
}

void expect_refused(const Task& chiefs, const Task& others, const std::vector<std::string>& parts) {
  SimCluster sim(ranks.jobs);
  auto run = sim.start([&](SimTask& task) {
    return learn(MultiWorkerMirrored{task.server(), resumable}, of(task, chiefs, others));
  });
  try {
    run.finish();
    BOOST_ERROR("tasks that contradict each other have trained together");
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const std::string& part : parts)
      BOOST_TEST(message.find(part) != message.npos, message << " lacks '" << part << "'");
  }
}

}  // namespace

SIMULATION_TEST(a_lost_task_changes_nothing_that_weighted_servers_learn, seeds(1, 16)) {
  static const Weights expected = servers.undisturbed();
  expect_nothing_changed(servers, expected);
}

SIMULATION_TEST(a_lost_rank_changes_nothing_that_weighted_ranks_learn, seeds(1, 16)) {
  static const Weights expected = ranks.undisturbed();
  expect_nothing_changed(ranks, expected);
}

SIMULATION_TEST(a_lost_stage_changes_nothing_that_weighted_stages_learn, seeds(1, 16)) {
  static const Weights expected = stages.undisturbed();
  expect_nothing_changed(stages, expected);
}

SIMULATION_TEST(a_bad_disk_changes_nothing_that_is_learned_with_weights, seeds(1, 16)) {
  static const Weights expected = servers.undisturbed();
  expect_nothing_changed(servers, expected,
                         seed() % 2 == 0 ? FaultKind::disk_full : FaultKind::disk_errors);
}

SIMULATION_TEST(an_input_that_runs_out_of_memory_changes_nothing, seeds(1, 16)) {
  static const Weights expected = learn_out_of_memory_after(0);
  expect_same(learn_out_of_memory_after(10 + seed() * 37 % 200), expected);
}

SIMULATION_TEST(tasks_that_contradict_each_other_are_refused, seeds(1, 4)) {
  expect_refused({}, {.class_weight = {}},
                 {"class_weight: ", " has none, ", "task:0 has 0: 1, 1: 2.5, 2: 0.5"});
  expect_refused({.class_weight = {}}, {},
                 {"class_weight: ", " has 0: 1, 1: 2.5, 2: 0.5, ", "task:0 has none"});
  expect_refused({.frozen = ""}, {}, {"frozen layers: ", " has dense, ", "task:0 has none"});
}

BOOST_AUTO_TEST_SUITE_END()

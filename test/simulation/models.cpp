// Model::fit() in a simulated cluster whose tasks are killed, at many moments; strategies.cpp has those
// that stop or are cut off.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/models/model.h"
#include "actors/simulation/seeds.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/values/error.h"
#include "test/simulation/support/points_of_a_line.h"

BOOST_AUTO_TEST_SUITE(models)

using namespace actorflow;
using namespace std::chrono_literals;
using test::points_of_a_line;

namespace {

// What the chief has in the end: the weights, and what the epochs that it has seen have measured.
struct Learned {
  std::map<std::string, Tensor> weights;
  std::vector<double> val_losses;
};

// Options of all strategies.
const ReplicaOptions resumable{.strategy = Synchronous{},
                               .checkpoint_folder = "checkpoints",
                               .save_checkpoint = {.steps = 5},
                               .mark_end = true};

Model beginner() {
  Model model = sequential({dense(3, tanh), dropout(0.1), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  return model;
}

Learned teach(Model& model, const TrainingData& data, FitOptions options) {
  const auto [x, y] = points_of_a_line();
  options.batch_size = 12;
  options.validation_data = TrainingData{x, y};
  options.verbosity = Verbosity::silent;
  const History history = model.fit(data, options);
  if (!is_chief(options.strategy)) return {};
  return {model.weights(), history.epochs.empty() ? std::vector<double>{} : history.of("val_loss")};
}

Learned teach(Model& model, const FitOptions& options) {
  const auto [x, y] = points_of_a_line();
  return teach(model, {x, y}, options);
}

Learned learn(Distribution strategy, std::int64_t steps_per_epoch = 0) {
  Model model = beginner();
  return teach(model,
               {.epochs = 8, .steps_per_epoch = steps_per_epoch, .strategy = std::move(strategy)});
}

Learned learn_with_servers(SimTask& task) { return learn(ParameterServer{task.server(), resumable}); }

// A layer or two to each stage; the last batch of an epoch leaves a micro-batch without examples.
Learned learn_in_stages(SimTask& task) {
  return learn(Pipeline{task.server(), {.stages = 2, .micro_batches = 3}, resumable});
}

// The same, but all batches are whole, and an epoch may end anywhere in the data.
Learned learn_in_stages_by_steps(SimTask& task) {
  return learn(Pipeline{task.server(), {.stages = 2, .micro_batches = 3}, resumable}, 4);
}

// Each with half of a batch.
Learned learn_in_two_pipelines(SimTask& task) {
  return learn(Pipeline{task.server(), {.stages = 2, .micro_batches = 2}, resumable});
}

// Each with all variables. The last batch of an epoch leaves some without examples.
Learned learn_by_all_reduce(SimTask& task) {
  return learn(MultiWorkerMirrored{task.server(), resumable});
}

// The same with each worker's part of the slots.
Learned learn_by_sharded_all_reduce(SimTask& task) {
  ReplicaOptions options = resumable;
  options.strategy = AllReduce{.sharded_optimizer = true};
  return learn(MultiWorkerMirrored{task.server(), options});
}

// Each with data of its own: 5 examples, 12, 19, 5. Those with fewer join.
Learned learn_from_own_data(SimTask& task) {
  FitOptions options{.epochs = 8, .strategy = MultiWorkerMirrored{task.server(), resumable}};
  options.auto_shard_policy = AutoShardPolicy::off;
  const auto [x, y] = points_of_a_line();
  Model model = beginner();
  const std::int64_t own = 5 + 7 * (task.server().name().index % 3);
  return teach(model, Dataset::tensors({x, y}).take(own), options);
}

// Each alone for three steps, then all agree.
Learned learn_in_rounds(SimTask& task) {
  ReplicaOptions options = resumable;
  options.strategy = AllReduce{.local_steps = 3};
  return learn(MultiWorkerMirrored{task.server(), options});
}

// The same model several times, each for another start of the chief.
using Copies = std::vector<Model>;

// The epochs from `first` to `last`, which begin with the chief's model; what other tasks have knows
// nothing.
std::function<Learned(SimTask&)> go_on_with_servers(Copies& models, int first, int last) {
  return [&models, first, last, starts = std::make_shared<std::size_t>(0)](SimTask& task) {
    const FitOptions options{.epochs = last,
                             .initial_epoch = first - 1,
                             .strategy = ParameterServer{task.server(), resumable}};
    Model other = beginner();
    return teach(is_chief(options.strategy) ? models.at((*starts)++) : other, options);
  };
}

using Program = Learned (*)(SimTask&);

const std::vector<SimCluster::Job> tasks{{"ps", 2}, {"chief", 1}, {"worker", 2}};
// One pipeline, which has no task besides its stages; two are below.
const std::vector<SimCluster::Job> one_pipeline{{"worker", 2}};

Learned undisturbed(const std::vector<SimCluster::Job>& jobs, Program program,
                    std::string_view chief = "/job:worker/task:0") {
  SimCluster sim(jobs);
  return sim.start(program).finish(chief);
}

void expect_same(const Learned& learned, const Learned& expected) {
  BOOST_TEST_REQUIRE(learned.weights.size() == expected.weights.size());
  for (const auto& [name, value] : expected.weights)
    BOOST_TEST(identical(learned.weights.at(name), value), name);
  // Validation is of the weights at the end of an epoch, to the bit.
  if (!learned.val_losses.empty()) BOOST_TEST(learned.val_losses.back() == expected.val_losses.back());
}

// Of so many moments, which are so far apart, the one for this seed. Later seeds begin with the first
// again, so that tasks are lost while the job lasts.
std::chrono::milliseconds moment(std::uint64_t apart_ms, std::uint64_t moments) {
  return std::chrono::milliseconds(apart_ms * (1 + (of_this_seed({}).seed - 1) % moments));
}

// 2 to 4 ranks divide a batch: of two the one that is left has nobody to go on with. The lost one may be
// the chief, and is lost at one of 40 moments that are `ms` apart.
void expect_nothing_changed_by_a_lost_rank(Program program, std::uint64_t ms,
                                           const SimOptions& options = {.time_limit = 10min},
                                           Program undisturbed_program = learn_by_all_reduce) {
  const std::uint64_t seed = of_this_seed({}).seed;
  const int ranks = 2 + static_cast<int>(seed % 3);
  static std::map<std::pair<Program, int>, Learned> learned;
  Learned& expected = learned[{undisturbed_program, ranks}];
  if (expected.weights.empty()) expected = undisturbed({{"worker", ranks}}, undisturbed_program);
  SimCluster sim({{"worker", ranks}}, of_this_seed(options));
  auto run = sim.start(program);
  const std::string task =
      "/job:worker/task:" + std::to_string(seed / 3 % static_cast<std::uint64_t>(ranks));
  sim.at(moment(ms, 40)).kill(task);
  sim.at(2s + moment(ms, 40)).restart(task);
  expect_same(run.finish("/job:worker/task:0"), expected);
}

// The disk is full, or one of its calls in twenty fails, while a task is lost and comes back.
void expect_nothing_changed_by_a_bad_disk(const std::vector<SimCluster::Job>& jobs, Program program,
                                          std::string_view chief, const Learned& expected) {
  const std::uint64_t seed = of_this_seed({}).seed;
  SimCluster sim(jobs, of_this_seed({.time_limit = 10min, .restart_failed = 1s}));
  auto run = sim.start(program);
  const auto begin = 20ms + moment(4, 24);
  const std::string_view lost = seed % 3 == 0 ? "/job:worker/task:0" : chief;
  sim.at(begin).fault(seed % 2 == 0 ? FaultKind::disk_full : FaultKind::disk_errors, 3s);
  sim.at(begin + 40ms).kill(lost);
  sim.at(begin + 2s).restart(lost);
  expect_same(run.finish(chief), expected);
}

}  // namespace

SIMULATION_TEST(a_lost_task_changes_nothing_that_is_learned, seeds(1, 12)) {
  static const Learned expected = undisturbed(tasks, learn_with_servers, "/job:chief/task:0");
  const std::uint64_t seed = of_this_seed({}).seed;
  SimCluster sim(tasks);
  auto run = sim.start(learn_with_servers);
  const std::string lost[] = {"/job:ps/task:1", "/job:worker/task:0", "/job:chief/task:0"};
  const std::string& task = lost[seed % 3];
  // While the tasks meet, in each part of training, and shortly after its end.
  sim.at(54ms + moment(6, 12)).kill(task);
  sim.at(2s).restart(task);
  expect_same(run.finish("/job:chief/task:0"), expected);
}

SIMULATION_TEST(a_second_fit_with_a_lost_task_gives_the_bits_of_one, seeds(1, 12)) {
  const std::string chief = "/job:chief/task:0";
  static const Learned expected = undisturbed(tasks, learn_with_servers, chief);
  Copies models;
  for (int copy = 0; copy < 2; ++copy) {
    Copies one;
    one.push_back(beginner());
    SimCluster(tasks).start(go_on_with_servers(one, 1, 4)).finish(chief);
    BOOST_TEST(one[0].step() == 12);
    models.push_back(std::move(one[0]));
  }
  SimCluster sim(tasks);
  auto run = sim.start(go_on_with_servers(models, 5, 8));
  const std::string lost[] = {"/job:ps/task:1", "/job:worker/task:0", chief};
  const std::string& task = lost[of_this_seed({}).seed % 3];
  // The same of the second fit().
  sim.at(54ms + moment(3, 12)).kill(task);
  sim.at(2s).restart(task);
  expect_same(run.finish(chief), expected);
}

SIMULATION_TEST(a_bad_disk_changes_nothing_that_servers_keep, seeds(1, 24)) {
  static const Learned expected = undisturbed(tasks, learn_with_servers, "/job:chief/task:0");
  expect_nothing_changed_by_a_bad_disk(tasks, learn_with_servers, "/job:chief/task:0", expected);
}

SIMULATION_TEST(a_bad_disk_changes_nothing_that_ranks_keep, seeds(1, 24)) {
  static const Learned expected = undisturbed({{"worker", 3}}, learn_by_all_reduce);
  expect_nothing_changed_by_a_bad_disk({{"worker", 3}}, learn_by_all_reduce, "/job:worker/task:0",
                                       expected);
}

SIMULATION_TEST(a_lost_stage_changes_nothing_that_is_learned, seeds(1, 12)) {
  static const Learned expected = undisturbed(one_pipeline, learn_in_stages);
  const std::uint64_t seed = of_this_seed({}).seed;
  SimCluster sim(one_pipeline, {.restart_failed = 1s});
  auto run = sim.start(learn_in_stages);
  const std::string task = seed % 2 == 0 ? "/job:worker/task:0" : "/job:worker/task:1";
  // Also while the chief saves for the last time, which fails then, and while it ends the job.
  sim.at(moment(10, 12)).kill(task);
  sim.at(2s).restart(task);
  expect_same(run.finish("/job:worker/task:0"), expected);
}

SIMULATION_TEST(a_lost_stage_changes_nothing_where_epochs_are_so_many_steps, seeds(1, 8)) {
  static const Learned expected = undisturbed(one_pipeline, learn_in_stages_by_steps);
  SimCluster sim(one_pipeline, {.restart_failed = 1s});
  auto run = sim.start(learn_in_stages_by_steps);
  sim.at(moment(12, 8)).kill("/job:worker/task:1");
  sim.at(2s).restart("/job:worker/task:1");
  expect_same(run.finish("/job:worker/task:0"), expected);
}

SIMULATION_TEST(a_lost_stage_of_a_replica_changes_nothing_that_is_learned, seeds(1, 8)) {
  static const Learned expected = undisturbed({{"worker", 4}}, learn_in_two_pipelines);
  const std::uint64_t seed = of_this_seed({}).seed;
  SimCluster sim({{"worker", 4}}, {.restart_failed = 1s});
  auto run = sim.start(learn_in_two_pipelines);
  const std::string task = "/job:worker/task:" + std::to_string(seed % 4);
  sim.at(moment(21, 8)).kill(task);
  sim.at(2s).restart(task);
  expect_same(run.finish("/job:worker/task:0"), expected);
}

SIMULATION_TEST(a_lost_rank_of_an_all_reduce_changes_nothing_that_is_learned, seeds(1, 40)) {
  expect_nothing_changed_by_a_lost_rank(learn_by_all_reduce, 3);
}

SIMULATION_TEST(a_lost_rank_with_data_of_its_own_changes_nothing_that_is_learned, seeds(1, 40)) {
  expect_nothing_changed_by_a_lost_rank(learn_from_own_data, 3, {.time_limit = 10min},
                                        learn_from_own_data);
}

SIMULATION_TEST(ranks_with_data_of_their_own_learn_the_same_in_every_order_of_messages, seeds(1, 8)) {
  static const Learned expected = undisturbed({{"worker", 3}}, learn_from_own_data);
  expect_same(undisturbed({{"worker", 3}}, learn_from_own_data), expected);
}

// The slots of the lost one are gone: all go on from the newest checkpoint, to the same bits. A chief
// that lacks them for its last checkpoint begins anew.
SIMULATION_TEST(a_lost_rank_of_a_sharded_optimizer_changes_nothing_that_is_learned, seeds(1, 40)) {
  expect_nothing_changed_by_a_lost_rank(learn_by_sharded_all_reduce, 4,
                                        {.time_limit = 10min, .restart_failed = 1s});
}

// Also after the last step: the chief lacks slots for its last checkpoint then, and begins anew.
SIMULATION_TEST(sharded_ranks_that_are_lost_together_change_nothing_that_is_learned, seeds(1, 30)) {
  static const Learned expected = undisturbed({{"worker", 4}}, learn_by_all_reduce);
  const SimOptions options = of_this_seed({.time_limit = 10min, .restart_failed = 1s});
  SimCluster sim({{"worker", 4}}, options);
  auto run = sim.start(learn_by_sharded_all_reduce);
  using enum FaultKind;
  sim.apply(random_fault_plan(options.seed, {{"worker", 0}, {"worker", 1}, {"worker", 2}, {"worker", 3}},
                              {.count = 4,
                               .until = 300ms,
                               .longest = 8s,
                               .kinds = {kill, kill, FaultKind::pause, lossy, duplicate, late}}));
  expect_same(run.finish("/job:worker/task:0"), expected);
}

// Two at a time, one of them twice; bad wires; a rank that stops and goes on. In seed 462 the chief is
// stopped while the others come, who say so again meanwhile.
SIMULATION_TEST(ranks_that_are_lost_together_change_nothing_that_is_learned, seeds(430, 470)) {
  static const Learned expected = undisturbed({{"worker", 4}}, learn_by_all_reduce);
  const SimOptions options = of_this_seed({.time_limit = 10min});
  SimCluster sim({{"worker", 4}}, options);
  auto run = sim.start(learn_by_all_reduce);
  using enum FaultKind;
  sim.apply(random_fault_plan(options.seed, {{"worker", 0}, {"worker", 1}, {"worker", 2}, {"worker", 3}},
                              {.count = 4,
                               .until = 300ms,
                               .longest = 8s,
                               .kinds = {kill, kill, FaultKind::pause, lossy, duplicate, late}}));
  expect_same(run.finish("/job:worker/task:0"), expected);
}

SIMULATION_TEST(an_all_reduce_learns_the_same_in_every_order_of_messages, seeds(1, 8)) {
  static const Learned expected = undisturbed({{"worker", 3}}, learn_by_all_reduce);
  expect_same(undisturbed({{"worker", 3}}, learn_by_all_reduce), expected);
}

SIMULATION_TEST(a_sharded_optimizer_learns_the_same_in_every_order_of_messages, seeds(1, 8)) {
  static const Learned expected = undisturbed({{"worker", 3}}, learn_by_all_reduce);
  expect_same(undisturbed({{"worker", 3}}, learn_by_sharded_all_reduce), expected);
}

SIMULATION_TEST(rounds_of_local_steps_learn_the_same_in_every_order_of_messages, seeds(1, 8)) {
  static const Learned expected = undisturbed({{"worker", 3}}, learn_in_rounds);
  expect_same(undisturbed({{"worker", 3}}, learn_in_rounds), expected);
}

// What the others have learned since they agreed is lost with a rank, but not more.
SIMULATION_TEST(a_rank_that_is_lost_in_a_round_does_not_keep_the_others_from_learning, seeds(1, 40)) {
  const std::uint64_t seed = of_this_seed({}).seed;
  const int ranks = 2 + static_cast<int>(seed % 3);
  static std::map<int, double> undisturbed_loss;
  if (!undisturbed_loss.contains(ranks))
    undisturbed_loss[ranks] = undisturbed({{"worker", ranks}}, learn_in_rounds).val_losses.back();
  SimCluster sim({{"worker", ranks}}, of_this_seed({.time_limit = 10min}));
  auto run = sim.start(learn_in_rounds);
  const std::string task =
      "/job:worker/task:" + std::to_string(seed / 3 % static_cast<std::uint64_t>(ranks));
  sim.at(moment(3, 40)).kill(task);
  sim.at(2s + moment(3, 40)).restart(task);
  const Learned learned = run.finish("/job:worker/task:0");
  BOOST_TEST_REQUIRE(learned.weights.size() == 4U);
  if (!learned.val_losses.empty())
    BOOST_TEST(learned.val_losses.back() < 2 * undisturbed_loss[ranks] + 0.1);
}

SIMULATION_TEST(stages_learn_the_same_in_every_order_of_messages, seeds(1, 8)) {
  static const Learned expected = undisturbed(one_pipeline, learn_in_stages);
  expect_same(undisturbed(one_pipeline, learn_in_stages), expected);
}

BOOST_AUTO_TEST_SUITE_END()

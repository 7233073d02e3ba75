// What callbacks of Model::fit() have seen, in a simulated cluster whose tasks are killed.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/simulation/seeds.h"
#include "actors/simulation/simulation_test.h"
#include "test/simulation/support/points_of_a_line.h"

BOOST_AUTO_TEST_SUITE(callback_state)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

using Weights = std::map<std::string, Tensor>;

constexpr int epochs = 8;

// 3 steps in each epoch: some checkpoints are of the last step of one.
const ReplicaOptions resumable{.strategy = Synchronous{},
                               .checkpoint_folder = "checkpoints",
                               .save_checkpoint = {.steps = 5},
                               .mark_end = true};

// Each of them needs what it has seen in earlier epochs: when the value was best, and the weights.
Callbacks averaging() {
  return {callback({.on_epoch_end =
                        [](FitContext&, int epoch, Logs& logs) {
                          const std::vector<double> values{0.5, 0.4, 0.45, 0.3, 0.35, 0.35, 0.35, 0.1};
                          logs.set("made_up", values.at(static_cast<std::size_t>(epoch - 1)));
                        }}),
          reduce_on_plateau({.monitor = "made_up", .factor = 0.5, .patience = 2, .cooldown = 1}),
          averaged_weights(2)};
}

// Ends training in the seventh epoch with the weights of the fourth.
Callbacks stopping() {
  Callbacks all = averaging();
  all.back() = early_stopping({.monitor = "made_up", .patience = 3, .restore_best_weights = true});
  return all;
}

// Callbacks of a user's own, which have no state and end training with the weights of that step: the end
// of the seventh epoch, and its first batch.
Callbacks stopping_after_an_epoch() {
  return {callback({.on_epoch_end = [](FitContext& training, int epoch, Logs&) {
    if (epoch == 7) training.stop();
  }})};
}

Callbacks stopping_after_a_batch() {
  return {callback({.on_batch_end = [](FitContext& training, std::int64_t batch, const Logs&) {
    if (training.model().progress().epoch == 7 && batch == 1) training.stop();
  }})};
}

Weights learn(const Distribution& strategy, const Callbacks& callbacks) {
  const auto [x, y] = test::points_of_a_line();
  Model model = sequential({dense(3, tanh), dropout(0.1), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  model.fit({x, y}, {.epochs = epochs,
                     .batch_size = 12,
                     .callbacks = callbacks,
                     .verbosity = Verbosity::silent,
                     .strategy = strategy});
  return is_chief(strategy) ? model.weights() : Weights{};
}

// A strategy with the tasks that it needs, the chief first.
struct Cluster {
  std::vector<SimCluster::Job> jobs;
  std::vector<std::string> lost;  // tasks, of which a test kills one
  Distribution (*strategy)(Server&);
};

const Cluster servers{{{"ps", 2}, {"chief", 1}, {"worker", 2}},
                      {"/job:chief/task:0", "/job:ps/task:1"},
                      [](Server& server) -> Distribution {
                        return ParameterServer{server, resumable};
                      }};
const Cluster ranks{
    {{"worker", 3}}, {"/job:worker/task:0", "/job:worker/task:2"}, [](Server& server) -> Distribution {
      return MultiWorkerMirrored{server, resumable};
    }};

auto program(const Cluster& cluster, Callbacks (*which)()) {
  return [&cluster, which](SimTask& task) { return learn(cluster.strategy(task.server()), which()); };
}

void expect_nothing_forgotten(const Cluster& cluster, Callbacks (*which)(), const Weights& expected,
                              const std::string& lost, std::chrono::milliseconds moment) {
  SimCluster sim(cluster.jobs, of_this_seed({.time_limit = 10min, .restart_failed = 1s}));
  auto run = sim.start(program(cluster, which));
  sim.at(moment).kill(lost);
  sim.at(2s).restart(lost);
  const Weights learned = run.finish(cluster.lost[0]);
  BOOST_TEST_REQUIRE(learned.size() == expected.size());
  for (const auto& [name, value] : expected) BOOST_TEST(identical(learned.at(name), value), name);
}

// One task is killed at a moment of this seed, mostly the chief, and comes back.
void expect_nothing_forgotten(const Cluster& cluster, Callbacks (*which)(), const Weights& expected) {
  const std::uint64_t seed = of_this_seed({}).seed;
  expect_nothing_forgotten(cluster, which, expected, cluster.lost[seed % 4 == 0 ? 1 : 0],
                           std::chrono::milliseconds(20 + 6 * (seed % 16)));
}

Weights undisturbed(const Cluster& cluster, Callbacks (*which)()) {
  return SimCluster(cluster.jobs).start(program(cluster, which)).finish(cluster.lost[0]);
}

// A process that stays when training has ended, and when all others have gone, is killed and comes back:
// nobody is there, and there are steps left to make.
void expect_to_leave_stopped_training(const Cluster& cluster, const Weights& expected) {
  const std::string& lost = cluster.lost[of_this_seed({}).seed % 2];
  SimCluster sim(cluster.jobs, of_this_seed({.time_limit = 10min, .restart_failed = 1s}));
  auto run = sim.start([&](SimTask& task) {
    Weights learned = learn(cluster.strategy(task.server()), stopping());
    if (task.life() == 1 && task.server().name().to_string() == lost) task.sleep(1h);
    return learned;
  });
  sim.at(1min).kill(lost);
  sim.at(1min + 1s).restart(lost);
  const Weights learned = run.finish(cluster.lost[0]);
  BOOST_TEST((sim.statistics().simulated < 90s), lost);  // it did not wait for the connect timeout
  BOOST_TEST_REQUIRE(learned.size() == expected.size());
  for (const auto& [name, value] : expected) BOOST_TEST(identical(learned.at(name), value), name);
}

struct Stopped {
  const Cluster* cluster;
  Callbacks (*callbacks)();
  Weights expected;
};

const std::vector<Stopped>& stopped_by_users() {
  static const auto all = [] {
    std::vector<Stopped> each;
    for (const Cluster* cluster : {&servers, &ranks})
      for (const auto callbacks : {stopping_after_an_epoch, stopping_after_a_batch})
        each.push_back({cluster, callbacks, undisturbed(*cluster, callbacks)});
    return each;
  }();
  return all;
}

}  // namespace

SIMULATION_TEST(a_lost_chief_of_servers_forgets_nothing_that_callbacks_have_seen, seeds(1, 16)) {
  static const Weights expected = undisturbed(servers, averaging);
  expect_nothing_forgotten(servers, averaging, expected);
}

SIMULATION_TEST(a_lost_chief_of_ranks_forgets_nothing_that_callbacks_have_seen, seeds(1, 16)) {
  static const Weights expected = undisturbed(ranks, averaging);
  expect_nothing_forgotten(ranks, averaging, expected);
}

SIMULATION_TEST(a_lost_chief_ends_with_the_best_weights_of_all_epochs, seeds(1, 16)) {
  static const Weights of_servers = undisturbed(servers, stopping),
                       of_ranks = undisturbed(ranks, stopping);
  expect_nothing_forgotten(servers, stopping, of_servers);
  expect_nothing_forgotten(ranks, stopping, of_ranks);
}

// Between the stop and the mark of the end there is a checkpoint, from which training must not go on.
SIMULATION_TEST(a_chief_that_is_lost_after_training_was_stopped_makes_it_no_longer, seeds(1, 16)) {
  static const Weights expected = undisturbed(ranks, stopping);
  expect_nothing_forgotten(ranks, stopping, expected, ranks.lost[0],
                           std::chrono::milliseconds(110 + of_this_seed({}).seed % 16));
}

SIMULATION_TEST(a_task_that_comes_back_when_training_was_stopped_leaves, seeds(1, 8)) {
  static const Weights of_servers = undisturbed(servers, stopping),
                       of_ranks = undisturbed(ranks, stopping);
  expect_to_leave_stopped_training(servers, of_servers);
  expect_to_leave_stopped_training(ranks, of_ranks);
}

SIMULATION_TEST(a_lost_task_changes_nothing_where_a_users_own_callback_stops_training, seeds(1, 16)) {
  for (const auto& [cluster, which, expected] : stopped_by_users())
    expect_nothing_forgotten(*cluster, which, expected);
}

// The chief is lost around the last checkpoint, before the mark of the end or after it.
SIMULATION_TEST(a_chief_that_is_lost_after_a_users_own_callback_stopped_makes_no_step_more,
                seeds(1, 32)) {
  const auto moment = std::chrono::milliseconds(100 + of_this_seed({}).seed % 32);
  for (const auto& [cluster, which, expected] : stopped_by_users())
    expect_nothing_forgotten(*cluster, which, expected, cluster->lost[0], moment);
}

BOOST_AUTO_TEST_SUITE_END()

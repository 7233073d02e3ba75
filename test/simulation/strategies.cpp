// Model::fit() under each strategy when a task stops, or is cut off, for longer than the heartbeat
// timeout: the others count it as lost, and it is fenced when it is back. Synchronous strategies learn
// the bits of an undisturbed job; with the others each update counts once, also when tasks are killed.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/model.h"
#include "actors/probes/point.h"
#include "actors/runtime/runtime.h"
#include "actors/simulation/seeds.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "test/simulation/support/points_of_a_line.h"

BOOST_AUTO_TEST_SUITE(strategies)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

enum class Absence { stopped, cut_off, killed };

constexpr auto away = 12s;  // the heartbeat timeout is 5 s

ReplicaOptions resumable(const Strategy& strategy = Synchronous{}) {
  return {.strategy = strategy,
          .checkpoint_folder = "checkpoints",
          .save_checkpoint = {.steps = 5},
          .mark_end = true};
}

// A strategy with the tasks that it needs.
struct Cluster {
  std::string name;
  std::vector<SimCluster::Job> jobs;
  std::string chief;
  std::vector<std::string> absent;  // tasks, of which a test takes one away
  Distribution (*strategy)(Server&);
};

// What the chief has in the end.
struct Learned {
  std::map<std::string, Tensor> weights;
  std::int64_t step = 0;
  std::chrono::nanoseconds took{0};  // from the beginning of fit() to its end
};

Learned learn(SimTask& task, const Cluster& cluster, Model model, const TrainingData& data, int epochs,
              std::int64_t batch_size) {
  const Distribution strategy = cluster.strategy(task.server());
  Clock& clock = task.server().runtime()->clock();
  const auto began = clock.now();
  model.fit(data, {.epochs = epochs,
                   .batch_size = batch_size,
                   .verbosity = Verbosity::silent,
                   .strategy = strategy});
  if (!is_chief(strategy)) return {};
  return {model.weights(), model.step(), clock.now() - began};
}

Learned fit_a_line(SimTask& task, const Cluster& cluster) {
  const auto [x, y] = test::points_of_a_line();
  Model model = sequential({dense(3, tanh), dropout(0.1), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  return learn(task, cluster, std::move(model), {x, y}, 8, 12);
}

constexpr std::int64_t updates = 192;  // wanted; replicas that do not wait make up to two more

// The newest checkpoint all of which is of one moment. Replicas that do not wait may still update
// variables while the chief saves the last ones, and reads them for its model.
Checkpoint newest_of_one_step(Storage& storage) {
  std::string newest;
  std::int64_t step = -1;
  for (const auto& name : storage.list("checkpoints")) {
    if (!name.ends_with(".manifest")) continue;
    const std::string path = "checkpoints/" + name;
    const Manifest manifest = read_manifest(storage, path);
    if (manifest.one_step && manifest.global_step > step) {
      newest = path;
      step = manifest.global_step;
    }
  }
  BOOST_TEST_REQUIRE(step >= 0);
  return load_checkpoint(storage, newest);
}

// Each update adds exactly 1 to the weight and to the bias, which are on different parameter servers.
// What counts is a checkpoint long after the fault.
Learned count_updates(SimTask& task, const Cluster& cluster) {
  constexpr std::int64_t count = 32;
  const Tensor ones = Tensor::of<float>({count, 1}, std::vector<float>(count, 1.F));
  Model model = sequential({dense(1, {}, {.weights = zeros()})});
  model.compile({.loss = Loss{"minus_prediction",
                              [](Output prediction, Output labels) { return labels - prediction; }},
                 .optimizer = Sgd{1}});
  Learned learned = learn(task, cluster, std::move(model), {ones, ones}, 24, 4);
  if (learned.weights.empty()) return learned;
  BOOST_TEST(learned.step >= updates);
  const Checkpoint saved = newest_of_one_step(task.server().runtime()->storage());
  for (auto& [name, value] : learned.weights) value = saved.tensors.at(name);
  learned.step = saved.global_step;
  return learned;
}

using Program = Learned (*)(SimTask&, const Cluster&);

const std::vector<SimCluster::Job> with_servers{{"ps", 2}, {"chief", 1}, {"worker", 2}};
const std::vector<std::string> some_with_servers{"/job:ps/task:1", "/job:worker/task:0",
                                                 "/job:chief/task:0"};

const std::vector<Cluster> synchronous{
    {"parameter servers", with_servers, "/job:chief/task:0", some_with_servers,
     [](Server& server) -> Distribution {
       return ParameterServer{server, resumable()};
     }},
    {"all-reduce",
     {{"worker", 3}},
     "/job:worker/task:0",
     {"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:2"},
     [](Server& server) -> Distribution {
       return MultiWorkerMirrored{server, resumable()};
     }},
    {"all-reduce with a sharded optimizer",
     {{"worker", 3}},
     "/job:worker/task:0",
     {"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:2"},
     [](Server& server) -> Distribution {
       return MultiWorkerMirrored{server, resumable(AllReduce{.sharded_optimizer = true})};
     }},
    {"two pipelines of two stages",
     {{"worker", 4}},
     "/job:worker/task:0",
     {"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:3"},
     [](Server& server) -> Distribution {
       return Pipeline{server, {.stages = 2, .micro_batches = 3}, resumable()};
     }}};

const std::vector<Cluster> asynchronous{
    {"asynchronous replicas", with_servers, "/job:chief/task:0", some_with_servers,
     [](Server& server) -> Distribution {
       return ParameterServer{server, resumable(Asynchronous{})};
     }},
    {"bounded staleness", with_servers, "/job:chief/task:0", some_with_servers,
     [](Server& server) -> Distribution {
       return ParameterServer{server, resumable(BoundedStaleness{2})};
     }}};

// Training takes longer than a task is away.
constexpr auto longest_kernel = 20ms;

auto run_on(const Cluster& cluster, Program program) {
  return [&cluster, program](SimTask& task) { return program(task, cluster); };
}

const Learned& undisturbed(const Cluster& cluster, Program program) {
  static std::map<const Cluster*, Learned> all;
  Learned& learned = all[&cluster];
  if (learned.weights.empty())
    learned = SimCluster(cluster.jobs, {.longest_kernel = longest_kernel})
                  .start(run_on(cluster, program))
                  .finish(cluster.chief);
  return learned;
}

void take_away(SimCluster& sim, const std::string& task, std::chrono::nanoseconds at, Absence how) {
  switch (how) {
    case Absence::stopped:
      sim.at(at).pause(task, away);
      break;
    case Absence::cut_off:
      for (const TaskName& other : sim.cluster().all_tasks())
        if (other.to_string() != task) sim.at(at).partition(task, other.to_string(), away);
      break;
    case Absence::killed:
      sim.at(at).kill(task);
      sim.at(at + 2s).restart(task);
      break;
  }
}

// One task of the cluster, and one of the first three of so many parts of training, by the seed.
Learned without_one(const Cluster& cluster, Program program, Absence how, int parts) {
  const std::uint64_t seed = of_this_seed({}).seed;
  const auto at = undisturbed(cluster, program).took / parts * (1 + seed / 3 % 3);
  const std::string& task = cluster.absent[seed % cluster.absent.size()];
  SimCluster sim(
      cluster.jobs,
      of_this_seed({.longest_kernel = longest_kernel, .time_limit = 10min, .restart_failed = 1s}));
  auto run = sim.start(run_on(cluster, program));
  take_away(sim, task, at, how);
  const auto planned = sim.faults().size();
  Learned learned = run.finish(cluster.chief);
  if (SeedScope::current()->options().only) return learned;  // a failure is being shrunk
  std::uint64_t happened = 0;
  for (const auto& [kind, times] : sim.statistics().faults) happened += times;
  BOOST_TEST(happened == planned, cluster.name << " without " << task);
  return learned;
}

void expect_the_same_bits(Absence how) {
  for (const Cluster& cluster : synchronous) {
    const Learned learned = without_one(cluster, fit_a_line, how, 4);
    const Learned& expected = undisturbed(cluster, fit_a_line);
    BOOST_TEST(learned.step == expected.step, cluster.name);
    BOOST_TEST_REQUIRE(learned.weights.size() == expected.weights.size(), cluster.name);
    for (const auto& [name, value] : expected.weights)
      BOOST_TEST(identical(learned.weights.at(name), value), cluster.name << ": " << name);
  }
}

// The task is back well before the end, and makes the step again in which it was lost. Of a checkpoint
// that was saved in the midst of an update, as replicas that do not wait allow and its manifest says, a
// part of that update stays when it is restored.
void expect_each_update_to_count_once(Absence how) {
  for (const Cluster& cluster : asynchronous) {
    Point::take_all();
    const Learned learned = without_one(cluster, count_updates, how, 8);
    if (Point::take_all().at("a checkpoint of different steps is restored") > 0) continue;
    BOOST_TEST(learned.step >= updates * 3 / 4, cluster.name);
    BOOST_TEST_REQUIRE(learned.weights.size() == 2U, cluster.name);
    for (const auto& [name, value] : learned.weights)
      BOOST_TEST(value.values<float>()[0] == static_cast<float>(learned.step),
                 cluster.name << ": " << name << " is " << value.values<float>()[0] << " after step "
                              << learned.step);
  }
}

}  // namespace

SIMULATION_TEST(a_task_that_stops_changes_nothing_that_is_learned, seeds(1, 9)) {
  expect_the_same_bits(Absence::stopped);
}

SIMULATION_TEST(a_task_that_is_cut_off_changes_nothing_that_is_learned, seeds(1, 9)) {
  expect_the_same_bits(Absence::cut_off);
}

SIMULATION_TEST(each_asynchronous_update_counts_once_when_a_task_stops, seeds(1, 9)) {
  expect_each_update_to_count_once(Absence::stopped);
}

SIMULATION_TEST(each_asynchronous_update_counts_once_when_a_task_is_cut_off, seeds(1, 9)) {
  expect_each_update_to_count_once(Absence::cut_off);
}

SIMULATION_TEST(each_asynchronous_update_counts_once_when_a_task_is_killed, seeds(1, 9)) {
  expect_each_update_to_count_once(Absence::killed);
}

// A batch of fit() is divided among all replicas: a step without one of them would lack its examples.
SIMULATION_TEST(backup_workers_are_refused, seeds(1, 2)) {
  const Cluster with_a_backup{
      "a backup worker", with_servers, "/job:chief/task:0", {}, [](Server& server) -> Distribution {
        return ParameterServer{server, resumable(Synchronous{.replicas_to_aggregate = 2})};
      }};
  SimCluster sim(with_servers, of_this_seed({.time_limit = 10min}));
  auto run = sim.start(run_on(with_a_backup, fit_a_line));
  BOOST_CHECK_EXCEPTION(run.finish(), Error, [](const Error& error) {
    return std::string(error.what()).find("leave out replicas_to_aggregate") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()

// An estimator that trains by each strategy in a simulated cluster whose tasks are killed, and is
// evaluated beside it.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/estimator/canned.h"
#include "actors/estimator/train_and_evaluate.h"
#include "actors/events/event_reader.h"
#include "actors/monitored/training_end.h"
#include "actors/simulation/sim_storage.h"
#include "actors/simulation/seeds.h"
#include "actors/simulation/simulation_test.h"

BOOST_AUTO_TEST_SUITE(estimator)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t max_steps = 24;
const std::string model_dir = "model";

// Numbers and names, of which the names decide the label. The second of two batches is smaller.
InputFn examples() {
  constexpr std::int64_t count = 20;
  std::vector<float> x;
  std::vector<std::string> colours;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(static_cast<float>(i % 6));
    colours.push_back(std::vector<std::string>{"red", "blue", "green"}[static_cast<std::size_t>(i % 3)]);
    labels.push_back(i % 3 == 1 ? 1 : 0);
  }
  return tensor_input_fn(
      {{"x", Tensor::of<float>({count}, x)}, {"colour", Tensor::of<std::string>({count}, colours)}},
      Tensor::of<std::int64_t>({count}, labels), {.batch_size = 12});
}

using Variables = std::map<std::string, Tensor>;

// A strategy with the tasks that it needs.
struct Cluster {
  std::string name;
  std::vector<SimCluster::Job> jobs;
  std::string chief;
  std::vector<std::string> lost;  // tasks, of which a test kills one
  Distribution (*strategy)(Server&);
};

const std::vector<Cluster> clusters{
    {"parameter servers",
     {{"ps", 2}, {"chief", 1}, {"worker", 2}},
     "/job:chief/task:0",
     {"/job:ps/task:1", "/job:worker/task:0", "/job:chief/task:0"},
     [](Server& server) -> Distribution { return ParameterServer{server}; }},
    {"all-reduce",
     {{"worker", 3}},
     "/job:worker/task:0",
     {"/job:worker/task:1", "/job:worker/task:2", "/job:worker/task:0"},
     [](Server& server) -> Distribution { return MultiWorkerMirrored{server}; }},
    {"two pipelines of two stages",
     {{"worker", 4}},
     "/job:worker/task:0",
     {"/job:worker/task:1", "/job:worker/task:2", "/job:worker/task:0"},
     [](Server& server) -> Distribution {
       return Pipeline{server, {.stages = 2, .micro_batches = 3}};
     }}};

bool is_evaluator(SimTask& task) { return task.server().name().job == "evaluator"; }

DNNClassifier classifier_of(SimTask& task, const Cluster& cluster) {
  return DNNClassifier(
      {.feature_columns = {numeric_column("x"),
                           embedding_column(categorical_column_with_hash_bucket("colour", 7), 3)},
       .hidden_units = {4},
       .optimizer = Adagrad{0.1},
       .config = {.model_dir = model_dir,
                  .strategy = cluster.strategy(task.server()),
                  .is_evaluator = is_evaluator(task),
                  .save_checkpoints_steps = 5}});
}

// What the newest checkpoint has in the end, with the slots of the optimizer. Whether it was saved
// before or after the sums of the last epoch were taken depends on when a task was lost.
Variables learn(SimTask& task, const Cluster& cluster) {
  const auto classifier = classifier_of(task, cluster);
  classifier.train(examples(), {.max_steps = max_steps});
  if (!is_chief(classifier.config().strategy)) return {};
  BOOST_TEST(is_complete(task.storage(), model_dir, max_steps));
  Variables variables = classifier.variables();
  BOOST_TEST(variables.erase("train/epoch_sums") == 1U);
  return variables;
}

void learn_and_evaluate(SimTask& task, const Cluster& cluster) {
  train_and_evaluate(classifier_of(task, cluster), {.input_fn = examples(), .max_steps = max_steps},
                     {.input_fn = examples()});
}

// The events of the evaluator: each step with its loss, in their order.
using Evaluated = std::vector<std::pair<std::int64_t, double>>;

Evaluated evaluated(Storage& storage) {
  Evaluated losses;
  for (const Event& event : EventReader(storage, model_dir + "/eval").poll())
    if (const auto* results = std::get_if<std::vector<Summary>>(&event.what))
      for (const Summary& result : *results)
        if (result.tag == "loss")
          losses.emplace_back(event.step, std::get<ScalarSummary>(result.value).value);
  return losses;
}

// In the middle of training, whose steps take from 60 ms on.
void lose_a_task(SimCluster& sim, const std::string& task, std::uint64_t moment) {
  sim.at(std::chrono::milliseconds(55 + 8 * moment)).kill(task);
  sim.at(2s).restart(task);
}

Variables learned(SimCluster& sim, const Cluster& cluster) {
  return sim.start([&cluster](SimTask& task) { return learn(task, cluster); }).finish(cluster.chief);
}

const Variables& undisturbed(const Cluster& cluster) {
  static std::map<const Cluster*, Variables> all;
  Variables& variables = all[&cluster];
  if (variables.empty()) {
    SimCluster sim(cluster.jobs);
    variables = learned(sim, cluster);
  }
  return variables;
}

Evaluated evaluated(SimCluster& sim, const Cluster& cluster) {
  sim.start([&cluster](SimTask& task) { learn_and_evaluate(task, cluster); }).finish();
  return evaluated(sim.storage());
}

std::vector<SimCluster::Job> with_evaluator(const Cluster& cluster) {
  auto jobs = cluster.jobs;
  jobs.push_back({"evaluator", 1});
  return jobs;
}

// By step, as they are when nothing happens and each checkpoint is measured.
const std::map<std::int64_t, double>& undisturbed_losses(const Cluster& cluster) {
  static std::map<const Cluster*, std::map<std::int64_t, double>> all;
  auto& losses = all[&cluster];
  if (losses.empty()) {
    SimCluster sim(with_evaluator(cluster));
    const Evaluated each = evaluated(sim, cluster);
    losses = {each.begin(), each.end()};
  }
  return losses;
}

}  // namespace

SIMULATION_TEST(a_lost_task_changes_nothing_that_an_estimator_learns, seeds(1, 12)) {
  const std::uint64_t seed = of_this_seed({}).seed;
  for (const Cluster& cluster : clusters) {
    SimCluster sim(cluster.jobs, of_this_seed({.restart_failed = 1s}));
    const std::string& task = cluster.lost[seed % 3];
    lose_a_task(sim, task, seed);
    const Variables variables = learned(sim, cluster);
    const Variables& expected = undisturbed(cluster);
    BOOST_TEST_REQUIRE(variables.size() == expected.size(), cluster.name);
    for (const auto& [name, value] : expected)
      BOOST_TEST(identical(variables.at(name), value),
                 cluster.name << " without " << task << ": " << name);
  }
}

SIMULATION_TEST(a_lost_task_makes_an_evaluator_measure_nothing_twice_and_nothing_else, seeds(1, 12)) {
  const std::uint64_t seed = of_this_seed({}).seed;
  for (const Cluster& cluster : clusters) {
    const auto& expected = undisturbed_losses(cluster);
    SimCluster sim(with_evaluator(cluster), of_this_seed({.restart_failed = 1s}));
    // The evaluator, the chief, and one of the others, which differ with the strategy.
    lose_a_task(sim, seed % 3 == 0 ? "/job:evaluator/task:0" : cluster.lost[seed % 3], seed);
    const Evaluated losses = evaluated(sim, cluster);
    BOOST_TEST_REQUIRE(!losses.empty(), cluster.name);
    BOOST_TEST(losses.back().first == max_steps, cluster.name);
    std::int64_t before = -1;
    for (const auto& [step, loss] : losses) {
      BOOST_TEST(step > before, cluster.name);
      const auto found = expected.find(step);
      if (found != expected.end())
        BOOST_TEST(loss == found->second, cluster.name << ": the loss of step " << step);
      before = step;
    }
    BOOST_TEST(sim.storage().exists(model_dir + "/export/model.onnx"), cluster.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

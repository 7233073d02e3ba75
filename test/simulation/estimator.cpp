// An estimator that trains in a simulated cluster whose tasks are killed, and is evaluated beside it.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

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

// Numbers and names, of which the names decide the label.
InputFn examples() {
  const std::vector<std::string> colours{"red", "blue", "green", "blue", "red", "green"};
  return tensor_input_fn({{"x", Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6})},
                          {"colour", Tensor::of<std::string>({6}, colours)}},
                         Tensor::of<std::int64_t>({6}, {0, 1, 0, 1, 0, 0}), {.batch_size = 4});
}

using Variables = std::map<std::string, Tensor>;

DNNClassifier classifier_of(SimTask& task) {
  return DNNClassifier({.feature_columns = {numeric_column("x"),
                                            embedding_column(
                                                categorical_column_with_hash_bucket("colour", 7), 3)},
                        .hidden_units = {4},
                        .optimizer = Adagrad{0.1},
                        .config = {.model_dir = model_dir,
                                   .strategy = ParameterServer{task.server()},
                                   .is_evaluator = task.server().name().job == "evaluator",
                                   .save_checkpoints_steps = 5}});
}

// What the newest checkpoint has in the end, with the slots of the optimizer.
Variables learn(SimTask& task) {
  const auto classifier = classifier_of(task);
  classifier.train(examples(), {.max_steps = max_steps});
  if (!is_chief(classifier.config().strategy)) return {};
  BOOST_TEST(is_complete(task.storage(), model_dir, max_steps));
  return classifier.variables();
}

void learn_and_evaluate(SimTask& task) {
  train_and_evaluate(classifier_of(task), {.input_fn = examples(), .max_steps = max_steps},
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

const std::vector<SimCluster::Job> tasks{{"ps", 2}, {"chief", 1}, {"worker", 1}};

Variables undisturbed() {
  SimCluster sim(tasks);
  return sim.start(learn).finish("/job:chief/task:0");
}

const std::vector<SimCluster::Job> tasks_and_evaluator{
    {"ps", 2}, {"chief", 1}, {"worker", 1}, {"evaluator", 1}};

// By step, as they are when nothing happens and each checkpoint is measured.
std::map<std::int64_t, double> undisturbed_losses() {
  SimCluster sim(tasks_and_evaluator);
  sim.start(learn_and_evaluate).finish();
  const Evaluated losses = evaluated(sim.storage());
  return {losses.begin(), losses.end()};
}

}  // namespace

SIMULATION_TEST(a_lost_task_changes_nothing_that_an_estimator_learns, seeds(1, 12)) {
  static const Variables expected = undisturbed();
  const std::uint64_t seed = of_this_seed({}).seed;
  SimCluster sim(tasks);
  auto run = sim.start(learn);
  const std::string lost[] = {"/job:ps/task:1", "/job:worker/task:0", "/job:chief/task:0"};
  const std::string& task = lost[seed % 3];
  // Steps 1 to 24 take from 60 to 150 ms.
  sim.at(std::chrono::milliseconds(55 + 8 * seed)).kill(task);
  sim.at(2s).restart(task);
  const Variables learned = run.finish("/job:chief/task:0");
  BOOST_TEST_REQUIRE(learned.size() == expected.size());
  for (const auto& [name, value] : expected) BOOST_TEST(identical(learned.at(name), value), name);
}

SIMULATION_TEST(a_lost_task_makes_an_evaluator_measure_nothing_twice_and_nothing_else, seeds(1, 12)) {
  static const std::map<std::int64_t, double> expected = undisturbed_losses();
  const std::uint64_t seed = of_this_seed({}).seed;
  SimCluster sim(tasks_and_evaluator);
  auto run = sim.start(learn_and_evaluate);
  const std::string lost[] = {"/job:evaluator/task:0", "/job:chief/task:0", "/job:ps/task:1"};
  const std::string& task = lost[seed % 3];
  sim.at(std::chrono::milliseconds(55 + 8 * seed)).kill(task);
  sim.at(2s).restart(task);
  run.finish();
  const Evaluated losses = evaluated(sim.storage());
  BOOST_TEST_REQUIRE(!losses.empty());
  BOOST_TEST(losses.back().first == max_steps);
  std::int64_t before = -1;
  for (const auto& [step, loss] : losses) {
    BOOST_TEST(step > before);
    const auto found = expected.find(step);
    if (found != expected.end()) BOOST_TEST(loss == found->second, "the loss of step " << step);
    before = step;
  }
  BOOST_TEST(sim.storage().exists(model_dir + "/export/model.onnx"));
}

BOOST_AUTO_TEST_SUITE_END()

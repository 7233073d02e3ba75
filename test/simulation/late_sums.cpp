// What replicas measure reaches the chief after their steps: nothing of it is lost, or counts in another
// epoch than its own.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/client/epoch_fence.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/simulation/simulation_test.h"

BOOST_AUTO_TEST_SUITE(late_sums)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

// The sums of a model with one metric, in a session of its own: float64 [2, 3], odd epochs second; first
// the examples.
class Sums {
 public:
  explicit Sums(Server& server) {
    const std::string task = "/job:ps/task:0";
    graph_.on(task, [&] {
      sums_ = graph_.variable("train/epoch_sums", graph_.constant(of_odd_epochs(0)));
      more_ = graph_.placeholder(DType::float64, {2, 3});
      add_ = graph_.assign_add(sums_, more_);
    });
    const EpochFence fence(graph_, {task}, task);
    session_.emplace(server.target(), graph_);
    fence.join(*session_);
  }
  // As a slow replica does.
  void add_examples_of_odd_epochs(double count) {
    session_->run(std::vector<Output>{}, {{more_, of_odd_epochs(count)}}, {add_});
  }
  double examples() {
    const Tensor sums = session_->run(sums_);
    return sums.values<double>()[0] + sums.values<double>()[3];
  }

 private:
  static Tensor of_odd_epochs(double examples) {
    return Tensor::of<double>({2, 3}, {0, 0, 0, examples, 0, 0});
  }

  Graph graph_;
  Variable sums_;
  Output more_, add_;
  std::optional<Session> session_;
};

// Of each epoch, at the chief.
struct Measured {
  std::vector<double> losses, examples;
  double left = 0;         // examples of no epoch so far
  std::int64_t steps = 0;  // of all replicas
};

struct Course {
  std::int64_t examples = 10, batch_size = 4;
  int epochs = 3;
};

Measured learn(SimTask& task, const Strategy& strategy, const Course& course, Callbacks callbacks = {}) {
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < course.examples; ++i) {
    x.push_back(2 * static_cast<float>(i) / static_cast<float>(course.examples) - 1);
    y.push_back(2 * x.back() + 1);
  }
  const Metric count{"examples", [](Output p, Output) { return sum(p * 0.0 + 1.0, {0}); },
                     [](std::span<const double> sums) { return sums[0]; }};
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.05}, .metrics = {count}});
  Measured measured;
  callbacks.push_back(callback({.on_train_end = [&](FitContext& training) {
    measured.left = Sums(task.server()).examples();
    measured.steps = training.model().step();
  }}));
  const FitOptions options{.epochs = course.epochs,
                           .batch_size = course.batch_size,
                           .callbacks = callbacks,
                           .verbosity = Verbosity::silent,
                           .strategy = ParameterServer{task.server(), {.strategy = strategy}}};
  const TrainingData data{Tensor::of<float>({course.examples, 1}, x),
                          Tensor::of<float>({course.examples, 1}, y)};
  const History history = model.fit(data, options);
  if (history.epochs.empty()) return {};
  measured.losses = history.of("loss");
  measured.examples = history.of("examples");
  return measured;
}

Measured learn_synchronously(SimTask& task) { return learn(task, Synchronous{}, {}); }
Measured learn_in_epochs_of_one_step(SimTask& task) {
  return learn(task, Synchronous{}, {.examples = 10, .batch_size = 10, .epochs = 8});
}
Measured learn_asynchronously(SimTask& task) {
  return learn(task, Asynchronous{}, {.examples = 128, .batch_size = 8, .epochs = 4});
}

// In epochs of three steps: 4 examples of the first one are missed, and come, with many others, in the
// second one.
Measured learn_with_late_sums(SimTask& task) {
  std::optional<Sums> sums;
  int epoch = 0;
  return learn(task, Synchronous{}, {},
               {callback({.on_epoch_begin = [&](FitContext&, int begun) { epoch = begun; },
                          .on_batch_end =
                              [&](FitContext&, std::int64_t batch, const Logs&) {
                                if (batch != 1 || epoch == 3) return;
                                if (!sums) sums.emplace(task.server());
                                sums->add_examples_of_odd_epochs(epoch == 1 ? -4 : 90);
                              }})});
}

const std::string chief = "/job:worker/task:0";

Measured measured_by(Measured (*program)(SimTask&)) {
  SimCluster sim({{"ps", 1}, {"worker", 2}});
  return sim.start(program).finish(chief);
}

// Fails at the end, since what was said is told then.
std::string said_by(Measured (*program)(SimTask&)) {
  SimCluster sim({{"ps", 1}, {"worker", 2}});
  try {
    sim.start([program](SimTask& task) {
         program(task);
         if (task.server().name() == TaskName::parse(chief)) throw Error(Code::cancelled, "enough");
       })
        .finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "it has ended well";
}

}  // namespace

SIMULATION_TEST(late_sums_are_missed_by_name_and_count_in_no_later_epoch, seeds(1, 20)) {
  const Measured late = measured_by(learn_with_late_sums), usual = measured_by(learn_synchronously);
  BOOST_TEST(std::abs(late.losses.at(1) - usual.losses.at(1)) < 1e-6);
  BOOST_TEST(std::abs(late.losses.at(2) - usual.losses.at(2)) < 1e-6);
  const std::string said = said_by(learn_with_late_sums);
  for (const char* expected : {"epoch 1 has 10 examples, but those of its 2 replicas that have said so",
                               "within 1 s have 6: its loss and metrics are of these"})
    BOOST_TEST(said.find(expected) != said.npos, said);
  for (const char* other : {"epoch 2 has", "epoch 3 has"})
    BOOST_TEST(said.find(other) == said.npos, said);
}

SIMULATION_TEST(epochs_of_one_step_lose_nothing, seeds(1, 50)) {
  const Measured measured = measured_by(learn_in_epochs_of_one_step);
  BOOST_TEST(measured.examples == std::vector<double>(8, 10.0), boost::test_tools::per_element());
}

SIMULATION_TEST(asynchronous_training_loses_nothing, seeds(1, 50)) {
  const Measured measured = measured_by(learn_asynchronously);
  double counted = measured.left;
  for (const double examples : measured.examples) counted += examples;
  BOOST_TEST(counted == 8.0 * static_cast<double>(measured.steps));
}

BOOST_AUTO_TEST_SUITE_END()

// Training: a step of a multi-layer perceptron on MNIST against its matrix products alone and against
// PyTorch, TensorFlow and JAX, and two workers with a core each against one.
#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/models/classifiers.h"
#include "apps/training/train_replica.h"
#include "bench/data.h"
#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"
#include "bench/on_core.h"
#include "bench/training/plain_step.h"
#include "bench/training/products.h"
#include "dataflow/train/replicate.h"

namespace actorflow::bench {
namespace {

// A perceptron's training step, and batches to feed it.
class TrainingStep {
 public:
  explicit TrainingStep(const Layers& layers) {
    const std::vector<std::int64_t> hidden(layers.sizes.begin() + 1, layers.sizes.end() - 1);
    const Variable step = global_step(graph_);
    mlp_ = make_classifier(graph_, mlp(hidden, layers.sizes.back()), mnist().train.image());
    train_ = minimize(graph_, mlp_.train.loss, mlp_.variables.trained(), step, Sgd{});
    for (int i = 0; i < 16; ++i)
      batches_.push_back(consecutive_examples(mnist().train, i * layers.batch, layers.batch));
  }

  // Steps per second of a session in one process with so many threads: forward, backward and update.
  double steps_per_second(int threads, int steps) {
    LocalCluster cluster({{"local", 1}}, threads);
    Session session(cluster.server("local", 0).target(), graph_);
    session.initialize_variables();
    return measure(steps, [&](const Batch& batch) {
      session.run({train_.step, mlp_.train.loss}, {{mlp_.x, batch.x}, {mlp_.labels, batch.labels}});
    });
  }

  // Steps per second of a plain loop over the step's kernels.
  double kernels_per_second(int steps) {
    Variables variables = initialized_variables(graph_);
    RunStep step;
    step.feeds = {{mlp_.x.name(), batches_[0].x}, {mlp_.labels.name(), batches_[0].labels}};
    step.fetches = {train_.step.name(), mlp_.train.loss.name()};
    PlainStep plain(graph_, step, variables);
    return measure(steps, [&](const Batch& batch) { plain.run(std::array{batch.x, batch.labels}); });
  }

 private:
  template <class Run>
  double measure(int steps, const Run& run) {
    for (const auto& batch : batches_) run(batch);
    return steps / seconds_of([&] {
             for (int i = 0; i < steps; ++i)
               run(batches_[static_cast<std::size_t>(i) % batches_.size()]);
           });
  }

  Graph graph_;
  Classifier mlp_;
  TrainOp train_;
  std::vector<Batch> batches_;
};

// A perceptron under the names of its benchmarks and of the frameworks' scripts.
struct Mlp {
  std::string name, name_in_scripts;
  Layers layers;
  int steps;  // that take about half a second
};
const Mlp small_mlp{"mlp_784_128_10_batch_64", "mlp-128", {{784, 128, 10}, 64}, 3000};
const Mlp large_mlp{"mlp_784_1024_1024_10_batch_128", "mlp-1024", {{784, 1024, 1024, 10}, 128}, 100};

int steps_of(const Mlp& model, bool quick) {
  return quick ? std::max(2, model.steps / 150) : model.steps;
}

// A step, or its kernels alone, against its products alone.
Benchmark against_products(const Mlp& model, int threads, double bar) {
  const std::string suffix = threads == 1 ? "" : "_" + std::to_string(threads) + "_threads";
  const std::string baseline =
      "its products in oneDNN, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  return {"training/" + model.name + suffix, "step/s", baseline, at_least(bar), [=](bool quick) {
            const int steps = steps_of(model, quick);
            TrainingStep step(model.layers);
            return in_turn(
                quick ? 1 : 5, [&] { return step.steps_per_second(threads, steps); },
                [&] { return product_steps_per_second(model.layers, threads, steps); });
          }};
}

Benchmark kernels_against_products(const Mlp& model, double bar) {
  return {"training/" + model.name + "_kernels", "step/s", "its products in oneDNN, 1 thread",
          at_least(bar), [=](bool quick) {
            const int steps = steps_of(model, quick);
            TrainingStep step(model.layers);
            return in_turn(
                quick ? 1 : 5, [&] { return step.kernels_per_second(steps); },
                [&] { return product_steps_per_second(model.layers, 1, steps); });
          }};
}

Benchmark against(const Framework& framework, const Mlp& model, double bar) {
  return {
      "training/" + model.name + "_vs_" + framework.suffix, "step/s",
      framework.name + ", the better of 1 and 2 threads", at_least(bar), [=](bool quick) {
        const int steps = steps_of(model, quick);
        TrainingStep step(model.layers);
        return in_turn(
            quick ? 1 : 3,
            [&] { return std::max(step.steps_per_second(1, steps), step.steps_per_second(2, steps)); },
            [&] { return steps_per_second(framework, model.name_in_scripts, quick); });
      }};
}

// Thousand examples per second of asynchronous training as the trainer does it.
double examples_per_second(int workers, std::int64_t steps) {
  TrainOptions options;
  options.model.settings = {{"hidden", "128"}};
  options.optimizer = Sgd{};
  options.train_steps = steps * workers;
  const std::atomic<bool> interrupted = false;
  LocalCluster cluster({{"ps", 1}, {"worker", workers}}, workers);
  std::vector<std::future<std::optional<TrainReport>>> replicas;
  for (int worker = 0; worker < workers; ++worker)
    replicas.push_back(std::async(std::launch::async, [&, worker] {
      return train_replica(cluster.server("worker", worker), labelled(mnist()), options, interrupted,
                           nullptr);
    }));
  const auto report = replicas.front().get();
  return report->examples_per_second / 1e3;
}

Measurement two_workers(bool quick) {
  const std::int64_t steps = quick ? 50 : 5000;
  return in_turn(
      quick ? 1 : 5, [&] { return examples_per_second(2, steps); },
      [&] {
        const OnCore alone(0);
        return examples_per_second(1, steps);
      });
}

// Milliseconds of a synchronous step of so many replicas, all in one graph, which compute next to
// nothing: what the barrier and the accumulator cost.
double null_step_ms(int replicas, int steps) {
  Graph g;
  const Variable step = global_step(g), w = g.variable("w", g.constant(0.F));
  const Output loss = square(w - g.constant(1.F));
  std::vector<Output> inits, trains;
  for (int replica = 0; replica < replicas; ++replica) {
    const TrainOp train =
        minimize(g, loss, {w}, step, Sgd{0.1},
                 {.replica = replica, .replicas = replicas, .strategy = Synchronous{}});
    inits.push_back(train.local_init);
    trains.push_back(train.step);
  }
  LocalCluster cluster({{"local", 1}}, 1);
  Session session(cluster.server("local", 0).target(), g);
  session.initialize_variables();
  session.run({}, {}, inits);
  const auto run = [&] { session.run({}, {}, trains); };
  for (int i = 0; i < 3; ++i) run();
  return 1e3 / steps * seconds_of([&] {
           for (int i = 0; i < steps; ++i) run();
         });
}

Measurement barrier_of_800(bool quick) {
  const int steps = quick ? 2 : 30;
  return in_turn(
      quick ? 1 : 3, [&] { return null_step_ms(800, steps); },
      [&] { return 8 * null_step_ms(100, steps); });
}

}  // namespace

std::vector<Benchmark> training_benchmarks() {
  return {
      kernels_against_products(small_mlp, 0.9),
      against_products(small_mlp, 1, 0.83),
      against_products(small_mlp, 2, 0.68),
      kernels_against_products(large_mlp, 0.95),
      against_products(large_mlp, 1, 0.9),
      against_products(large_mlp, 2, 0.78),
      against(pytorch, small_mlp, 3),
      against(pytorch, large_mlp, 1.1),
      against(tensorflow, small_mlp, 2),
      against(tensorflow, large_mlp, 0.9),
      against(jax, small_mlp, 2),
      against(jax, large_mlp, 1.1),
      {"training/null_step_of_800_replicas", "ms", "8 x that of 100", at_most(2), barrier_of_800},
      {"training/two_workers_784_128_10", "kimg/s", "one worker on one core", at_least(1.75),
       two_workers},
  };
}

}  // namespace actorflow::bench

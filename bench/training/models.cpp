// Models: what fit() costs beside its steps alone, a step of a transformer and of
// an LSTM against PyTorch, and a pipeline against one device.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/models/classifiers.h"
#include "actors/models/text/transformer.h"
#include "apps/training/data/images.h"
#include "bench/data.h"
#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"

namespace actorflow::bench {
namespace {

// The training images, as fit() takes them.
const Batch& all_images() {
  static const Batch all = consecutive_examples(mnist().train, 0, mnist().train.count());
  return all;
}

// A perceptron for these images, and a training of it.
struct Perceptron {
  std::vector<std::int64_t> hidden;
  std::int64_t batch_size;
  std::int64_t steps;
};

// Steps per second of fit(): with shuffled batches, a metric and the logs.
class Fit {
 public:
  explicit Fit(const Perceptron& what) : what_(what) {
    std::vector<Layer> layers{flatten()};
    for (const std::int64_t size : what.hidden) layers.push_back(dense(size, relu));
    layers.push_back(dense(10));
    model_.emplace(sequential(layers));
    model_->compile({.loss = softmax_cross_entropy(), .optimizer = Sgd{}, .metrics = {accuracy()}});
  }

  double steps_per_second() {
    const Batch& data = all_images();
    const FitOptions options{.epochs = 1,
                             .batch_size = what_.batch_size,
                             .steps_per_epoch = what_.steps,
                             .verbosity = Verbosity::silent};
    return static_cast<double>(what_.steps) / seconds_of([&] {
             model_->fit({data.x, data.labels}, options);
           });
  }

 private:
  Perceptron what_;
  std::optional<actorflow::Model> model_;
};

// The same step of a session.
class BareStep {
 public:
  explicit BareStep(const Perceptron& what) : what_(what), cluster_({{"local", 1}}) {
    mlp_ = make_classifier(graph_, mlp(what.hidden), mnist().train.image());
    train_ = minimize(graph_, mlp_.train.loss, mlp_.variables.trained(), global_step(graph_), Sgd{});
    session_ = std::make_unique<Session>(cluster_.server("local", 0).target(), graph_);
    session_->initialize_variables();
    step_.emplace(session_->make_callable({train_.step, mlp_.train.loss, mlp_.train.accuracy},
                                          {mlp_.x, mlp_.labels}));
    for (int i = 0; i < 16; ++i)
      batches_.push_back(consecutive_examples(mnist().train, i * what.batch_size, what.batch_size));
    order_.resize(static_cast<std::size_t>(mnist().train.count()));
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::shuffle(order_, std::mt19937_64(1));
  }

  // Fed with batches that are there, and stay in the caches.
  double steps_per_second() {
    return measure([this](std::int64_t step) -> const Batch& {
      return batches_[static_cast<std::size_t>(step) % batches_.size()];
    });
  }

  // Fed with what a loop gathers from the shuffled images before each step.
  double steps_of_a_loop_per_second() {
    return measure([this](std::int64_t step) { return gathered(step); });
  }

 private:
  double measure(auto&& batch_of) {
    return static_cast<double>(what_.steps) / seconds_of([&] {
             for (std::int64_t step = 0; step < what_.steps; ++step) {
               const Batch& batch = batch_of(step);
               step_->run({batch.x, batch.labels});
             }
           });
  }

  Batch gathered(std::int64_t step) const {
    const Batch& all = all_images();
    const std::int64_t pixels = all.x.elements() / all.labels.elements();
    Batch batch{Tensor::allocate(DType::float32, {what_.batch_size, 28, 28, 1}),
                Tensor::allocate(DType::int64, {what_.batch_size})};
    float* x = batch.x.mutable_values<float>().data();
    for (std::int64_t i = 0; i < what_.batch_size; ++i) {
      const auto at = static_cast<std::size_t>(step * what_.batch_size + i) % order_.size();
      const std::int64_t row = order_[at];
      std::copy_n(all.x.values<float>().data() + row * pixels, pixels, x + i * pixels);
      batch.labels.mutable_values<std::int64_t>()[i] = all.labels.values<std::int64_t>()[row];
    }
    return batch;
  }

  Perceptron what_;
  LocalCluster cluster_;
  Graph graph_;
  Classifier mlp_;
  TrainOp train_;
  std::unique_ptr<Session> session_;
  std::optional<Callable> step_;
  std::vector<Batch> batches_;
  std::vector<std::int64_t> order_;
};

Measurement fit_against(const Perceptron& what, int rounds, double (BareStep::*baseline)()) {
  Fit fit(what);
  BareStep bare(what);
  return in_turn(
      rounds, [&] { return fit.steps_per_second(); }, [&] { return (bare.*baseline)(); });
}

Perceptron small(bool quick) { return {{128}, 64, quick ? 50 : 4000}; }

Measurement fit_against_step(bool quick) {
  return fit_against(small(quick), quick ? 1 : 5, &BareStep::steps_per_second);
}

Measurement fit_against_loop(bool quick) {
  return fit_against(small(quick), quick ? 1 : 5, &BareStep::steps_of_a_loop_per_second);
}

Measurement large_fit_against_step(bool quick) {
  return fit_against({{1024, 1024}, 128, quick ? 3 : 300}, quick ? 1 : 5, &BareStep::steps_per_second);
}

constexpr std::int64_t characters = 65, sequences = 12;

// nanoGPT's small transformer for CPUs, as pytorch_step.py has it.
actorflow::Model transformer() {
  actorflow::Model model(character_transformer(characters, {.bias = true, .tied = false}));
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Sgd{}});
  return model;
}

Measurement transformer_against_pytorch(bool quick) {
  const std::int64_t steps = quick ? 2 : 40, positions = TransformerOptions{}.context;
  actorflow::Model model = transformer();
  std::vector<std::int64_t> ids(static_cast<std::size_t>(16 * sequences * positions));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i * 7919 % characters);
  const Tensor x = Tensor::of<std::int64_t>({16 * sequences, positions}, ids);
  const auto ours = [&] {
    const FitOptions options{
        .batch_size = sequences, .steps_per_epoch = steps, .verbosity = Verbosity::silent};
    return static_cast<double>(steps) / seconds_of([&] { model.fit({x, x}, options); });
  };
  return in_turn(quick ? 1 : 3, ours, [&] { return steps_per_second(pytorch, "gpt", quick); });
}

// Rows of images as steps, as pytorch_step.py has it.
Measurement lstm_against_pytorch(bool quick) {
  constexpr std::int64_t rows_at_once = 64;
  const std::int64_t steps = quick ? 2 : 100;
  actorflow::Model model(row_lstm({28, 28, 1}, 10, 128));
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Sgd{}});
  const Batch& data = all_images();
  const auto ours = [&] {
    const FitOptions options{
        .batch_size = rows_at_once, .steps_per_epoch = steps, .verbosity = Verbosity::silent};
    return static_cast<double>(steps) / seconds_of([&] { model.fit({data.x, data.labels}, options); });
  };
  return in_turn(quick ? 1 : 3, ours, [&] { return steps_per_second(pytorch, "lstm-128", quick); });
}

// A perceptron whose products take nearly all of a step, also in micro-batches of 256 examples.
constexpr std::int64_t wide_layers = 8, wide = 512, wide_batch = 2048;

// Examples per second of fit(), without its first step, which plans.
double wide_examples_per_second(const Distribution& strategy, std::int64_t steps) {
  std::vector<Layer> layers;
  for (int i = 0; i < wide_layers; ++i) layers.push_back(dense(wide, relu));
  actorflow::Model model = sequential(layers);
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{}});
  const Tensor x = Tensor::zeros(DType::float32, {wide_batch, wide});
  std::chrono::steady_clock::time_point first, last;
  CallbackFunctions watch;
  watch.on_batch_end = [&](FitContext&, std::int64_t batch, const Logs&) {
    (batch == 1 ? first : last) = std::chrono::steady_clock::now();
  };
  model.fit(Dataset::tensors({x, x}).repeat(), {.epochs = 1,
                                                .batch_size = wide_batch,
                                                .steps_per_epoch = steps,
                                                .callbacks = {callback(watch)},
                                                .verbosity = Verbosity::silent,
                                                .strategy = strategy});
  return static_cast<double>((steps - 1) * wide_batch) /
         std::chrono::duration<double>(last - first).count();
}

Measurement pipeline_against_device(bool quick) {
  const std::int64_t steps = quick ? 2 : 8;
  const Pipeline two{{.stages = 2, .micro_batches = 8}};
  return in_turn(
      quick ? 1 : 5, [&] { return wide_examples_per_second(two, steps); },
      [&] { return wide_examples_per_second(OneDevice{}, steps); });
}

}  // namespace

std::vector<Benchmark> model_benchmarks() {
  return {{"models/fit_mlp_784_128_10_batch_64", "step/s", "its steps alone", at_least(0.97),
           fit_against_step},
          {"models/fit_mlp_784_128_10_batch_64_beside_a_loop", "step/s",
           "a loop that gathers shuffled images before each step", at_least(0.97), fit_against_loop},
          {"models/fit_mlp_784_1024_1024_10_batch_128", "step/s", "its steps alone", at_least(0.97),
           large_fit_against_step},
          {"models/transformer_4x128_vs_pytorch", "step/s", "PyTorch", at_least(1.3),
           transformer_against_pytorch},
          {"models/lstm_128_of_28_rows_batch_64_vs_pytorch", "step/s", "PyTorch", at_least(1),
           lstm_against_pytorch},
          {"models/pipeline_2_stages_8_micro_batches", "examples/s", "one device, all its threads",
           at_least(0.8), pipeline_against_device}};
}

}  // namespace actorflow::bench

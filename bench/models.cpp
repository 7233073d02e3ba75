// Models: what fit() costs beside its steps alone, a step of a transformer against PyTorch, and a
// pipeline against one device.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/models/classifiers.h"
#include "actors/models/text/transformer.h"
#include "apps/training/data/images.h"
#include "bench/data.h"
#include "bench/frameworks.h"
#include "bench/harness.h"

namespace actorflow::bench {
namespace {

// The training images, as fit() takes them.
const Batch& all_images() {
  static const Batch all = consecutive_examples(mnist().train, 0, mnist().train.count());
  return all;
}

FitOptions epoch_of(std::int64_t steps) {
  return {.epochs = 1, .batch_size = 64, .steps_per_epoch = steps, .verbosity = Verbosity::silent};
}

// Steps per second of fit(): with shuffled batches, a metric and the logs.
double fit_steps_per_second(actorflow::Model& model, std::int64_t steps) {
  const Batch& data = all_images();
  return static_cast<double>(steps) / seconds_of([&] {
           model.fit({data.x, data.labels}, epoch_of(steps));
         });
}

// The same step of a session, fed with batches that are there.
class BareStep {
 public:
  BareStep() : cluster_({{"local", 1}}) {
    mlp_ = make_classifier(graph_, mlp({128}), mnist().train.image());
    train_ = minimize(graph_, mlp_.train.loss, mlp_.variables.trained(), global_step(graph_), Sgd{});
    session_ = std::make_unique<Session>(cluster_.server("local", 0).target(), graph_);
    session_->initialize_variables();
    step_.emplace(session_->make_callable({train_.step, mlp_.train.loss, mlp_.train.accuracy},
                                          {mlp_.x, mlp_.labels}));
    for (int i = 0; i < 16; ++i) batches_.push_back(consecutive_examples(mnist().train, i * 64, 64));
  }

  double steps_per_second(std::int64_t steps) {
    return static_cast<double>(steps) / seconds_of([&] {
             for (std::int64_t i = 0; i < steps; ++i) {
               const Batch& batch = batches_[static_cast<std::size_t>(i) % batches_.size()];
               step_->run({batch.x, batch.labels});
             }
           });
  }

 private:
  LocalCluster cluster_;
  Graph graph_;
  Classifier mlp_;
  TrainOp train_;
  std::unique_ptr<Session> session_;
  std::optional<Callable> step_;
  std::vector<Batch> batches_;
};

Measurement fit_against_step(bool quick) {
  const std::int64_t steps = quick ? 50 : 4000;
  actorflow::Model model = sequential({flatten(), dense(128, relu), dense(10)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Sgd{}, .metrics = {accuracy()}});
  BareStep bare;
  return in_turn(
      quick ? 1 : 5, [&] { return fit_steps_per_second(model, steps); },
      [&] { return bare.steps_per_second(steps); });
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
          {"models/transformer_4x128_vs_pytorch", "step/s", "PyTorch", at_least(1.3),
           transformer_against_pytorch},
          {"models/pipeline_2_stages_8_micro_batches", "examples/s", "one device, all its threads",
           at_least(0.8), pipeline_against_device}};
}

}  // namespace actorflow::bench

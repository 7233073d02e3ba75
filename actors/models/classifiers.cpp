#include "actors/models/classifiers.h"

#include <fmt/format.h>

#include <string>

#include "actors/layers/checks.h"
#include "actors/layers/layers.h"
#include "actors/layers/losses.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Halves the height and width, and adds zeros as the channels that are missing: no weights.
Layer shortcut(std::int64_t channels, std::int64_t stride) {
  return {"shortcut", [=](LayerScope&, Output x) {
            if (stride == 1) return x;
            const std::int64_t more = channels - x.shape()[3];
            return pad(avg_pool(x, 1, stride), {0, 0, 0, more / 2}, {0, 0, 0, more - more / 2});
          }};
}

Layer conv3x3(std::int64_t channels, std::int64_t stride, const Regularizer& regularizer) {
  return conv2d(channels, 3, {},
                {.strides = stride,
                 .padding = Padding::same,
                 .bias = false,
                 .weights = he_normal(),
                 .regularizer = regularizer});
}

Layer normalised() { return batch_norm({.kept = 0.9, .epsilon = 1e-5, .relu = true}); }

SymbolicTensor residual_block(const SymbolicTensor& x, std::int64_t channels, std::int64_t stride,
                              const Regularizer& regularizer) {
  const SymbolicTensor inner = normalised()(conv3x3(channels, stride, regularizer)(x));
  return normalised()({conv3x3(channels, 1, regularizer)(inner), shortcut(channels, stride)(x)});
}

Output penalised(Output loss, const ModelPass& pass) {
  for (const Output& more : pass.losses) loss = loss + more;
  for (const auto& entry : pass.variables.entries)
    if (entry.regularizer) loss = loss + entry.regularizer(entry.variable);
  return loss;
}

ClassifierPass pass_over(ModelPass& pass, const Architecture& architecture, const Classifier& model,
                         const Loss& loss = softmax_cross_entropy()) {
  const Output logits = architecture.build(pass, {model.x})[0];
  return {.logits = logits,
          .loss = penalised(mean(loss.of(logits, model.labels)), pass),
          .accuracy = mean(cast(equal(argmax(logits, -1), model.labels), DType::float32))};
}

void expect_input(const Architecture& architecture, const TensorType& example) {
  if (architecture.inputs.size() != 1 || architecture.outputs.size() != 1)
    throw invalid_argument(
        fmt::format("a classifier has one input and one output, but this has {} and {}",
                    architecture.inputs.size(), architecture.outputs.size()));
  const TensorType& declared = architecture.inputs[0].def().type;
  if (declared.dtype != DType::invalid && declared != example)
    throw invalid_argument(fmt::format("the classifier is for examples that are {}, but these are {}",
                                       declared.to_string(), example.to_string()));
}

}  // namespace

Architecture mlp(const std::vector<std::int64_t>& hidden, std::int64_t classes) {
  std::vector<Layer> layers{flatten()};
  for (std::size_t i = 0; i < hidden.size(); ++i)
    layers.push_back(
        dense(hidden[i], relu, {.weights = he_normal()}).named("hidden" + std::to_string(i + 1)));
  layers.push_back(dense(classes, {}, {.weights = glorot_normal()}).named("logits"));
  return chain(layers);
}

Architecture lenet(const Shape& image, std::int64_t classes) {
  const auto conv = [](std::int64_t filters) {
    return conv2d(filters, 5, {}, {.padding = Padding::same, .weights = he_normal()});
  };
  return chain({conv(32), max_pool(), activation(relu), conv(64), max_pool(), activation(relu),
                flatten(), dense(512, relu, {.weights = he_normal()}), dense(classes)},
               input(image));
}

Architecture row_lstm(const Shape& image, std::int64_t classes, std::int64_t units) {
  const Shape rows{image[0], image[1] * image[2]};
  return chain({reshape(rows), lstm(units), dense(classes)}, input(image));
}

Architecture resnet20(const Shape& image, std::int64_t classes, const Regularizer& regularizer) {
  const SymbolicTensor images = input(image);
  SymbolicTensor x = normalised()(conv3x3(16, 1, regularizer)(images));
  for (const std::int64_t channels : {16, 32, 64})
    for (int block = 0; block < 3; ++block)
      x = residual_block(x, channels, channels > 16 && block == 0 ? 2 : 1, regularizer);
  return {{images}, {dense(classes, {}, {.regularizer = regularizer})(global_avg_pool()(x))}};
}

Classifier make_classifier(Graph& graph, const Architecture& architecture, const Shape& example,
                           const ClassifierOptions& options) {
  return make_classifier(graph, architecture, TensorType{DType::float32, example}, options);
}

Classifier make_classifier(Graph& graph, const Architecture& architecture, const TensorType& example,
                           const ClassifierOptions& options) {
  expect_input(architecture, example);
  Classifier model;
  const TensorType x = batched(example), labels = batched({DType::int64, options.label});
  model.x = graph.placeholder(x.dtype, x.shape, "x");
  model.labels = graph.placeholder(labels.dtype, labels.shape, "labels");
  ModelPass testing{.graph = graph, .variables = model.variables, .seed = options.seed};
  model.test = pass_over(testing, architecture, model);
  if (!options.training) return model;
  graph.name_scope("train", [&] {
    ModelPass training{.graph = graph,
                       .variables = model.variables,
                       .seed = options.seed + static_cast<std::uint64_t>(options.replica),
                       .training = true,
                       .step = options.step};
    model.train = pass_over(training, architecture, model, options.loss);
    model.updates = std::move(training.updates);
  });
  return model;
}

}  // namespace actorflow

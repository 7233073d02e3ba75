#include "actors/models/conv_models.h"

#include "actors/layers/layers.h"

namespace actorflow {
namespace {

constexpr std::int64_t classes = 10;

// Halves the height and width, and adds zeros as the channels that are missing: no weights.
Layer shortcut(std::int64_t channels, std::int64_t stride) {
  return {"shortcut", [=](LayerScope&, Output x) {
            if (stride == 1) return x;
            const std::int64_t more = channels - x.shape()[3];
            return pad(avg_pool(x, 1, stride), {0, 0, 0, more / 2}, {0, 0, 0, more - more / 2});
          }};
}

Layer conv3x3(std::int64_t channels, std::int64_t stride) {
  return conv2d(channels, 3, {},
                {.strides = stride, .padding = Padding::same, .bias = false, .weights = he_normal()});
}

Layer normalised() { return batch_norm({.kept = 0.9, .epsilon = 1e-5, .relu = true}); }

SymbolicTensor residual_block(const SymbolicTensor& x, std::int64_t channels, std::int64_t stride) {
  const SymbolicTensor inner = normalised()(conv3x3(channels, stride)(x));
  return normalised()({conv3x3(channels, 1)(inner), shortcut(channels, stride)(x)});
}

ImageClassifier add_to(Graph& graph, const Architecture& architecture, const Shape& image,
                       std::uint64_t seed, bool training) {
  ImageClassifier model;
  model.x = graph.placeholder(DType::float32, {Shape::unknown, image[0], image[1], image[2]}, "x");
  model.labels = graph.placeholder(DType::int64, {Shape::unknown}, "labels");
  ModelVariables variables;
  ModelPass pass{.graph = graph, .variables = variables, .seed = seed, .training = training};
  model.logits = architecture.build(pass, {model.x})[0];
  model.loss = mean(softmax_cross_entropy(model.logits, model.labels));
  model.accuracy = mean(cast(equal(argmax(model.logits, 1), model.labels), DType::float32));
  model.variables = variables.trained();
  model.updates = std::move(pass.updates);
  return model;
}

}  // namespace

Architecture lenet() {
  const auto conv = [](std::int64_t filters) {
    return conv2d(filters, 5, {}, {.padding = Padding::same, .weights = he_normal()});
  };
  return chain({conv(32), max_pool(), activation(relu), conv(64), max_pool(), activation(relu),
                flatten(), dense(512, relu, {.weights = he_normal()}), dense(classes)},
               input({28, 28, 1}));
}

Architecture resnet20() {
  const SymbolicTensor image = input({32, 32, 3});
  SymbolicTensor x = normalised()(conv3x3(16, 1)(image));
  for (const std::int64_t channels : {16, 32, 64})
    for (int block = 0; block < 3; ++block)
      x = residual_block(x, channels, channels > 16 && block == 0 ? 2 : 1);
  return {{image}, {dense(classes)(global_avg_pool()(x))}};
}

ImageClassifier make_lenet(Graph& graph, std::uint64_t seed) {
  return add_to(graph, lenet(), {28, 28, 1}, seed, true);
}

ImageClassifier make_resnet20(Graph& graph, std::uint64_t seed, bool training) {
  return add_to(graph, resnet20(), {32, 32, 3}, seed, training);
}

}  // namespace actorflow

#include "actors/models/conv_models.h"

#include "actors/models/layers.h"

namespace actorflow {
namespace {

constexpr std::int64_t classes = 10;

ImageClassifier begin(Graph& graph, const Shape& image) {
  ImageClassifier model;
  model.x = graph.placeholder(DType::float32, {Shape::unknown, image[0], image[1], image[2]}, "x");
  model.labels = graph.placeholder(DType::int64, {Shape::unknown}, "labels");
  return model;
}

ImageClassifier finish(ImageClassifier model, LayerState state, Output logits) {
  model.logits = logits;
  model.loss = mean(softmax_cross_entropy(logits, model.labels));
  model.accuracy = mean(cast(equal(argmax(logits, 1), model.labels), DType::float32));
  model.variables = std::move(state.variables);
  model.updates = std::move(state.updates);
  return model;
}

// Half the height and width, and zeros as the channels that are missing: no weights.
Output shortcut(Output x, std::int64_t channels, std::int64_t stride) {
  if (stride == 1) return x;
  const std::int64_t more = channels - x.shape()[3];
  return pad(avg_pool(x, 1, stride), {0, 0, 0, more / 2}, {0, 0, 0, more - more / 2});
}

Output residual_block(LayerState& state, Output x, std::int64_t channels, std::int64_t stride) {
  Output y = conv_layer(state, x, channels, {.strides = stride, .bias = false});
  y = batch_norm_layer(state, y, true);
  y = conv_layer(state, y, channels, {.bias = false});
  return batch_norm_layer(state, y, true, shortcut(x, channels, stride));
}

}  // namespace

ImageClassifier make_lenet(Graph& graph, std::uint64_t seed) {
  ImageClassifier model = begin(graph, {28, 28, 1});
  LayerState state{.seed = seed};
  Output y = model.x;
  for (const std::int64_t filters : {32, 64})
    y = relu(max_pool(conv_layer(state, y, filters, {.window = 5}), 2, 2));
  y = relu(dense_layer(state, flatten(y), 512));
  const Output logits = dense_layer(state, y, classes);
  return finish(model, std::move(state), logits);
}

ImageClassifier make_resnet20(Graph& graph, std::uint64_t seed, bool training) {
  ImageClassifier model = begin(graph, {32, 32, 3});
  LayerState state{.seed = seed, .training = training};
  Output y = conv_layer(state, model.x, 16, {.bias = false});
  y = batch_norm_layer(state, y, true);
  for (const std::int64_t channels : {16, 32, 64})
    for (int block = 0; block < 3; ++block)
      y = residual_block(state, y, channels, channels > 16 && block == 0 ? 2 : 1);
  const Output logits = dense_layer(state, global_average_pool(y), classes);
  return finish(model, std::move(state), logits);
}

}  // namespace actorflow

#include "actors/models/images/fast_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "actors/layers/layers.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Output in_order(Output images, int axis, const std::vector<std::int64_t>& places) {
  const auto count = static_cast<std::int64_t>(places.size());
  return gather(images, images.graph->constant(Tensor::of<std::int64_t>({count}, places)), axis);
}

Output mirrored(Output images) {
  std::vector<std::int64_t> columns;
  for (std::int64_t column = images.shape()[2]; column-- > 0;) columns.push_back(column);
  return in_order(images, 2, columns);
}

// Each place has what was `by` places behind it, reflected at the edges.
Output moved(Output images, int axis, std::int64_t by) {
  const std::int64_t last = images.shape()[axis] - 1;
  std::vector<std::int64_t> places;
  for (std::int64_t place = 0; place <= last; ++place) {
    const std::int64_t from = std::abs(place + by);
    places.push_back(from > last ? 2 * last - from : from);
  }
  return in_order(images, axis, places);
}

// Behind the images, for predictions, their other views: all that are not mirrored come first.
Layer with_views(std::int64_t views) {
  return {"views", [views](LayerScope& scope, Output images) {
            if (scope.training() || views == 1) return images;
            std::vector<Output> all{images};
            if (views == 6)
              for (const std::int64_t by : {1, -1}) all.push_back(moved(moved(images, 1, by), 2, by));
            const Output straight = concat(all, 0);
            return concat({straight, mirrored(straight)}, 0);
          }};
}

Layer mean_of_views(std::int64_t views) {
  return {"mean_of_views", [views](LayerScope& scope, Output logits) {
            if (scope.training() || views == 1) return logits;
            const Output both = mean(reshape(logits, {2, -1, logits.shape()[1]}), {0});
            if (views == 2) return both;
            const Tensor shares = Tensor::of<float>({3, 1, 1}, {0.5F, 0.25F, 0.25F});
            return sum(reshape(both, {3, -1, logits.shape()[1]}) * scope.graph().constant(shares), {0});
          }};
}

Layer whitened(const Tensor& filters) {
  return {"whitening", [filters](LayerScope& scope, Output x) {
            const Variable weights = scope.average(
                "filters", filters.shape(),
                [&](Graph& graph, const Shape&, std::uint64_t) { return graph.constant(filters); });
            return conv2d(x, weights, 1, Padding::valid);
          }};
}

// Filters of which the first ones pass their input on, and the others begin at random.
Initializer identity_first() {
  return [](Graph& graph, const Shape& shape, std::uint64_t seed) {
    const std::int64_t passed = std::min(shape[2], shape[3]);
    Tensor identity = Tensor::zeros(DType::float32, {shape[0], shape[1], shape[2], passed});
    const std::int64_t middle = (shape[0] / 2 * shape[1] + shape[1] / 2) * shape[2];
    for (std::int64_t i = 0; i < passed; ++i)
      identity.mutable_values<float>()[static_cast<std::size_t>((middle + i) * passed + i)] = 1;
    const Output first = graph.constant(identity);
    if (passed == shape[3]) return first;
    const double limit = 1 / std::sqrt(fans_of(shape).in);
    const Shape rest{shape[0], shape[1], shape[2], shape[3] - passed};
    return concat({first, random_uniform(graph, rest, -limit, limit, seed)}, 3);
  };
}

// Batch normalisation whose offsets learn 64 times as fast as weights do, by being counted in eighths,
// and without scales: what follows each of them is not linear.
Layer offset_norm() {
  return {"batch_norm", [](LayerScope& scope, Output x) {
            constexpr double kept = 0.6, epsilon = 1e-12, unit = 8;
            const std::int64_t channels = x.shape()[3];
            const Output scale = fill(scope.graph(), {channels}, 1);
            const Output offset = scope.weight("offset", {channels}, zeros()) * unit;
            const Variable mean = scope.average("moving_mean", {channels}, zeros());
            const Variable variance = scope.average("moving_variance", {channels}, ones());
            if (!scope.training() || !scope.trainable())
              return batch_norm_inference(x, scale, offset, mean, variance, epsilon);
            const BatchNorm norm = batch_norm(x, scale, offset, epsilon);
            Graph& graph = scope.graph();
            scope.update(graph.assign_add(mean, (norm.mean - mean.value()) * (1 - kept)));
            scope.update(graph.assign_add(variance, (norm.variance - variance.value()) * (1 - kept)));
            return norm.y;
          }};
}

Layer block(std::int64_t channels, const Regularizer& decay) {
  return {
      "block", [=](LayerScope& scope, Output x) {
        const ConvLayerOptions options{
            .padding = Padding::same, .bias = false, .weights = identity_first(), .regularizer = decay};
        const auto conv = [&](Output y) { return scope.apply(conv2d(channels, 3, {}, options), y); };
        const Output halved = scope.apply(max_pool(), conv(x));
        const Output y = gelu(scope.apply(offset_norm(), halved));
        return gelu(scope.apply(offset_norm(), conv(y)));
      }};
}

}  // namespace

Architecture fast_net(const Tensor& whitening, const FastNetOptions& options) {
  if (options.views != 1 && options.views != 2 && options.views != 6)
    throw invalid_argument(
        fmt::format("the fast net predicts by 1, 2 or 6 views of an image, not by {}", options.views));
  const Regularizer decay = options.weight_decay > 0 ? l2(options.weight_decay / 2) : Regularizer{};
  std::vector<Layer> layers{with_views(options.views)};
  // As whitening_filters() counts pixels.
  layers.insert(layers.end(), {rescaling(4, -2), whitened(whitening), activation(gelu)});
  for (const std::int64_t channels : options.channels) layers.push_back(block(channels, decay));
  layers.insert(layers.end(), {global_max_pool(),
                               dense(options.classes, {},
                                     {.bias = false, .weights = lecun_normal(), .regularizer = decay}),
                               rescaling(1.0 / 9), mean_of_views(options.views)});
  return chain(layers, input(options.image));
}

}  // namespace actorflow

// Layers of images [batch, height, width, channels].
#include <fmt/format.h>

#include <algorithm>

#include "actors/layers/checks.h"
#include "actors/layers/layers.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void expect_images(Output x) {
  if (x.shape().rank() == 4) return;
  throw invalid_argument(fmt::format(
      "expected images [batch, height, width, channels], got {}{}", x.type().to_string(),
      x.shape().rank() == 3 ? "; grey images need an axis of one channel: reshape({height, width, 1}) "
                              "makes it"
                            : ""));
}

// A window that does not fit into images is mostly one of images with their channels first.
void expect_window_fits(Output x, Extent window, Padding padding) {
  const std::int64_t height = x.shape()[1], width = x.shape()[2];
  const bool known = height != Shape::unknown && width != Shape::unknown;
  if (!known || padding == Padding::same || (window.height <= height && window.width <= width)) return;
  throw invalid_argument(fmt::format(
      "a window of {} x {} does not fit into images [batch, height, width, channels] of {}; choose a "
      "smaller one or Padding::same, or, if the channels come first, change their order in the data",
      window.height, window.width, x.type().to_string()));
}

using Pool = Output (*)(Output, Extent, Extent, Padding);

Layer pool(const char* kind, Pool function, Extent windows, const PoolOptions& options) {
  expect_positive(kind, "windows", std::min(windows.height, windows.width));
  const Extent strides = options.strides.height == 0 ? windows : options.strides;
  return {kind, [=](LayerScope&, Output x) {
            expect_floating(x);
            expect_images(x);
            expect_window_fits(x, windows, options.padding);
            return function(x, windows, strides, options.padding);
          }};
}

// The axes between the batch and the channels: of images, of texts, or of a series.
std::vector<std::int64_t> places_of(Output x) {
  expect_rank_of_at_least(x, 3);
  std::vector<std::int64_t> axes;
  for (int axis = 1; axis + 1 < x.shape().rank(); ++axis) axes.push_back(axis);
  return axes;
}

// The mean over the steps of x [batch, steps, channels] that the mask has.
Output mean_of_masked(Output x, Output mask) {
  expect_rank(x, 3, "a masked series [batch, steps, channels]");
  const Output counts = cast(expand_dims(mask, {2}), x.dtype());
  return sum(x * counts, {1}) / maximum(sum(counts, {1}), scalar_like(x, 1));
}

}  // namespace

Layer conv2d(std::int64_t filters, Extent window, const Activation& activation,
             const ConvLayerOptions& options) {
  expect_positive("conv2d", "filters", filters);
  expect_positive("conv2d", "a window", std::min(window.height, window.width));
  expect_positive("conv2d", "strides", std::min(options.strides.height, options.strides.width));
  return {"conv2d", [=](LayerScope& scope, Output x) {
            expect_floating(x);
            expect_images(x);
            expect_window_fits(x, window, options.padding);
            const Shape shape{window.height, window.width, last_dimension(x), filters};
            const Variable weights =
                scope.weight("weights", shape, options.weights, options.regularizer);
            if (!options.bias) return activation(conv2d(x, weights, options.strides, options.padding));
            const Variable biases = scope.weight("biases", {filters}, options.biases);
            const Output y =
                fused_conv2d(x, weights, biases, activation.is_relu(), options.strides, options.padding);
            return activation.is_relu() ? y : activation(y);
          }};
}

Layer max_pool(Extent windows, const PoolOptions& options) {
  return pool("max_pool", max_pool, windows, options);
}

Layer avg_pool(Extent windows, const PoolOptions& options) {
  return pool("avg_pool", avg_pool, windows, options);
}

Layer global_avg_pool() {
  return {"global_avg_pool", [](LayerScope& scope, Output x) {
            const auto places = places_of(x);
            const Output mask = scope.mask(x);
            return mask ? mean_of_masked(x, mask) : mean(x, places);
          }};
}

Layer global_max_pool() {
  return {"global_max_pool", [](LayerScope&, Output x) { return max(x, places_of(x)); }};
}

}  // namespace actorflow

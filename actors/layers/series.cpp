// Layers of series [batch, steps, channels]: those of images, with a width of 1.
#include "actors/layers/checks.h"
#include "actors/layers/layers.h"
#include "dataflow/values/error.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

constexpr const char* series = "series [batch, steps, channels]";

// What windows over `steps` need around them.
struct Around {
  std::int64_t before = 0, after = 0;
};

Around padding_of(std::int64_t steps, std::int64_t window, const Conv1dOptions& options) {
  const std::int64_t more = (window - 1) * options.dilation;  // steps of a window, but for one
  if (options.padding == SeriesPadding::causal) return {more, 0};
  if (options.padding == SeriesPadding::valid) return {};
  const std::int64_t windows = (steps + options.strides - 1) / options.strides;
  const std::int64_t all = std::max<std::int64_t>((windows - 1) * options.strides + more + 1 - steps, 0);
  return {all / 2, all - all / 2};
}

Output padded(Output x, const Around& around) {
  if (around.before == 0 && around.after == 0) return x;
  return pad(x, {0, around.before, 0}, {0, around.after, 0});
}

// A window that leaves out steps sees one in `dilation`: with so many columns the steps that belong
// together are neighbours in a column, and the windows are plain ones of images.
struct Columns {
  std::int64_t steps, count;  // steps: of the padded series

  Output plane(Output x) const {
    const std::int64_t channels = last_dimension(x), rows = (steps + count - 1) / count;
    return reshape(padded(x, {0, rows * count - steps}), {-1, rows, count, channels});
  }
  Output back(Output y, std::int64_t results) const {
    const std::int64_t rows = y.shape()[1], channels = y.shape()[3];
    const Output all = reshape(y, {-1, rows * count, channels});
    return rows * count == results ? all : slice(all, {0, 0, 0}, {-1, results, -1});
  }
};

void check_conv1d(std::int64_t filters, std::int64_t window, const Conv1dOptions& options) {
  expect_positive("conv1d", "filters", filters);
  expect_positive("conv1d", "a window", window);
  expect_positive("conv1d", "strides", options.strides);
  expect_positive("conv1d", "a dilation", options.dilation);
  if (options.strides > 1 && options.dilation > 1)
    throw invalid_argument("conv1d: expected strides of 1 or a dilation of 1, got both above 1");
}

Output convolved(LayerScope& scope, Output x, std::int64_t filters, std::int64_t window,
                 const Activation& activation, const Conv1dOptions& options) {
  const std::int64_t channels = last_dimension(x), steps = batch_of(x.shape())[1];
  const Around around = padding_of(steps, window, options);
  const std::int64_t all = around.before + steps + around.after,
                     left = all - (window - 1) * options.dilation;
  if (left < 1)
    throw invalid_argument("expected series of at least " +
                           std::to_string((window - 1) * options.dilation + 1) + " steps, got " +
                           x.type().to_string());
  const Variable weights =
      scope.weight("weights", {window, channels, filters}, options.weights, options.regularizer);
  const Columns columns{all, options.dilation};
  const Output plane = columns.plane(padded(x, around));
  const Output filter = reshape(weights, {window, 1, channels, filters});
  const Extent strides(options.strides, 1);
  const std::int64_t results = (left - 1) / options.strides + 1;
  if (!options.bias)
    return activation(columns.back(conv2d(plane, filter, strides, Padding::valid), results));
  const Variable biases = scope.weight("biases", {filters}, options.biases);
  const Output y = columns.back(
      fused_conv2d(plane, filter, biases, activation.is_relu(), strides, Padding::valid), results);
  return activation.is_relu() ? y : activation(y);
}

using Pool = Output (*)(Output, Extent, Extent, Padding);

Layer pool_series(const char* kind, Pool function, std::int64_t window, const Pool1dOptions& options) {
  expect_positive(kind, "windows", window);
  const std::int64_t stride = options.strides == 0 ? window : options.strides;
  expect_positive(kind, "strides", stride);
  return {kind, [=](LayerScope& scope, Output x) {
            expect_rank(x, 3, series);
            const Shape shape = batch_of(x.shape());
            const Output plane = reshape(x, {-1, shape[1], 1, shape[2]});
            const Output pooled = function(plane, {window, 1}, {stride, 1}, options.padding);
            const Output y = reshape(pooled, {-1, pooled.shape()[1], shape[2]});
            scope.set_mask(y, {});
            return y;
          }};
}

}  // namespace

Layer conv1d(std::int64_t filters, std::int64_t window, const Activation& activation,
             const Conv1dOptions& options) {
  check_conv1d(filters, window, options);
  return {"conv1d", [=](LayerScope& scope, Output x) {
            expect_floating(x);
            expect_rank(x, 3, series);
            const Output y = convolved(scope, x, filters, window, activation, options);
            scope.set_mask(y, {});
            return y;
          }};
}

Layer max_pool1d(std::int64_t window, const Pool1dOptions& options) {
  return pool_series("max_pool1d", max_pool, window, options);
}

Layer avg_pool1d(std::int64_t window, const Pool1dOptions& options) {
  return pool_series("avg_pool1d", avg_pool, window, options);
}

Layer masking(double value) {
  return {"masking", [value](LayerScope& scope, Output x) {
            expect_floating(x);
            expect_rank(x, 3, series);
            const Output mask = any(x != value, {-1});
            const Output y = x * cast(expand_dims(mask, {2}), x.dtype());
            scope.set_mask(y, mask);
            return y;
          }};
}

Layer repeat_vector(std::int64_t times) {
  expect_positive("repeat_vector", "times", times);
  return {"repeat_vector", [times](LayerScope&, Output x) {
            expect_rank(x, 2, "[batch, features]");
            return tile(expand_dims(x, {1}), {1, times, 1});
          }};
}

Layer permute(const std::vector<std::int64_t>& axes) {
  return {"permute", [axes](LayerScope& scope, Output x) {
            std::vector<std::int64_t> all{0};
            all.insert(all.end(), axes.begin(), axes.end());
            const Output y = transpose(x, all);
            scope.set_mask(y, {});
            return y;
          }};
}

Layer time_distributed(const Layer& layer) {
  return {"time_distributed", [layer](LayerScope& scope, Output x) {
            expect_rank_of_at_least(x, 3);
            const Shape shape = batch_of(x.shape());
            const auto behind = [](std::initializer_list<std::int64_t> first, const Shape& all,
                                   int from) {
              Shape result(first);
              for (int axis = from; axis < all.rank(); ++axis) result.push_back(all[axis]);
              return result;
            };
            const Output y = scope.apply(layer, reshape(x, behind({-1}, shape, 2)));
            return reshape(y, behind({-1, shape[1]}, batch_of(y.shape()), 1));
          }};
}

}  // namespace actorflow

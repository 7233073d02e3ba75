#include <fmt/format.h>

#include "actors/layers/checks.h"
#include "actors/layers/layers.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// average = kept average + (1 - kept) value.
void move_towards(LayerScope& scope, const Variable& average, Output value, double kept) {
  scope.update(scope.graph().assign_add(average, (value - average.value()) * (1 - kept)));
}

Output by_the_batch(LayerScope& scope, const BatchNormOptions& options, Output x, Output side) {
  const std::int64_t channels = last_dimension(x);
  const Variable scale = scope.weight("scale", {channels}, ones());
  const Variable offset = scope.weight("offset", {channels}, zeros());
  const Variable mean = scope.average("moving_mean", {channels}, zeros());
  const Variable variance = scope.average("moving_variance", {channels}, ones());
  if (scope.training() && scope.trainable()) {
    const BatchNorm norm = batch_norm(x, scale, offset, options.epsilon, options.relu, side);
    move_towards(scope, mean, norm.mean, options.kept);
    move_towards(scope, variance, norm.variance, options.kept);
    return norm.y;
  }
  Output y = batch_norm_inference(x, scale, offset, mean, variance, options.epsilon);
  if (side) y = y + side;
  return options.relu ? relu(y) : y;
}

}  // namespace

Layer batch_norm(const BatchNormOptions& options) {
  return {"batch_norm", [options](LayerScope& scope, const std::vector<Output>& inputs) {
            if (inputs.empty() || inputs.size() > 2)
              throw invalid_argument(fmt::format("expected one input or two, got {}", inputs.size()));
            expect_floating(inputs[0]);
            expect_rank_of_at_least(inputs[0], 2);
            return by_the_batch(scope, options, inputs[0], inputs.size() == 2 ? inputs[1] : Output{});
          }};
}

Layer layer_norm(double epsilon) {
  return {"layer_norm", [epsilon](LayerScope& scope, Output x) {
            expect_floating(x);
            expect_rank_of_at_least(x, 2);
            const std::int64_t width = last_dimension(x);
            const Variable scale = scope.weight("scale", {width}, ones());
            const Variable offset = scope.weight("offset", {width}, zeros());
            return layer_norm(x, scale, offset, epsilon);
          }};
}

}  // namespace actorflow

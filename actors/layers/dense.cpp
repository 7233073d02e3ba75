#include <fmt/format.h>

#include "actors/layers/checks.h"
#include "actors/layers/layers.h"

namespace actorflow {

Layer dense(std::int64_t units, const Activation& activation, const DenseOptions& options) {
  expect_positive("dense", "units", units);
  return {"dense", [=](LayerScope& scope, Output x) {
            expect_floating(x);
            const Shape shape = x.shape();
            expect_rank_of_at_least(x, 2);
            const std::int64_t features = last_dimension(x);
            const Variable weights =
                scope.weight("weights", {features, units}, options.weights, options.regularizer);
            Output y = matmul(shape.rank() == 2 ? x : reshape(x, {-1, features}), weights);
            if (options.bias) y = bias_add(y, scope.weight("biases", {units}, options.biases));
            if (shape.rank() > 2) y = reshape(y, with_last(shape, units));
            return activation(y);
          }};
}

}  // namespace actorflow

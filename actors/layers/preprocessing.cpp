#include "actors/layers/preprocessing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/layers/checks.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

constexpr double least_deviation = 1e-7;  // Keras' epsilon

Initializer value_of(const Tensor& tensor) {
  return [tensor](Graph& graph, const Shape&, std::uint64_t) { return graph.constant(tensor); };
}

void check(const Moments& moments) {
  const Tensor &mean = moments.mean, &variance = moments.variance;
  if (mean.dtype() == DType::invalid && variance.dtype() == DType::invalid) return;
  if (mean.dtype() != DType::float32 || variance.dtype() != DType::float32 || mean.shape().rank() != 1 ||
      !(mean.shape() == variance.shape()))
    throw invalid_argument(
        fmt::format("normalization: expected mean and variance float32 [features], got {} and {}",
                    mean.describe(), variance.describe()));
}

void expect_features(const Moments& moments, std::int64_t features) {
  if (moments.mean.dtype() == DType::invalid || moments.mean.elements() == features) return;
  throw invalid_argument(fmt::format(
      "its mean and variance are of {} features, but the input has {} along its last axis; adapt it to "
      "the same component of the data that the model is given",
      moments.mean.elements(), features));
}

void expect_numbers(Output x) {
  if (x.dtype() == DType::string || x.dtype() == DType::boolean)
    throw invalid_argument(
        fmt::format("expected numbers, got {}; StringLookup makes ids of texts", x.type().to_string()));
}

}  // namespace

Layer normalization(const Moments& moments) {
  check(moments);
  const bool known = moments.mean.dtype() != DType::invalid;
  return {"normalization", [=](LayerScope& scope, Output x) {
            expect_numbers(x);
            // Examples that are single numbers have one feature.
            const std::int64_t features = x.shape().rank() == 1 ? 1 : last_dimension(x);
            expect_features(moments, features);
            const Variable mean =
                scope.average("mean", {features}, known ? value_of(moments.mean) : zeros());
            const Variable variance =
                scope.average("variance", {features}, known ? value_of(moments.variance) : ones());
            const Output deviation = sqrt(variance.value());
            return (cast(x, DType::float32) - mean.value()) /
                   maximum(deviation, scalar_like(deviation, least_deviation));
          }};
}

Layer discretization(const std::vector<float>& boundaries) {
  const bool rise = std::ranges::is_sorted(boundaries, std::ranges::less_equal{});
  if (boundaries.empty() || !rise || !std::isfinite(boundaries.front()) ||
      !std::isfinite(boundaries.back()))
    throw invalid_argument(
        "discretization: expected one finite boundary or more, each above the one before");
  const auto count = static_cast<std::int64_t>(boundaries.size());
  return {"discretization", [=](LayerScope& scope, Output x) {
            expect_numbers(x);
            const Variable limits =
                scope.average("boundaries", {count}, value_of(Tensor::of<float>({count}, boundaries)));
            const Output each = expand_dims(cast(x, DType::float32), {x.shape().rank()});
            const Output passed = cast(greater_equal(each, limits.value()), DType::float32);
            return cast(sum(passed, {-1}), DType::int64);
          }};
}

Layer category_encoding(std::int64_t categories, CategoryEncoding encoding) {
  expect_positive("category_encoding", "categories", categories);
  return {"category_encoding", [=](LayerScope&, Output ids) {
            expect_ids(ids);
            const int rank = ids.shape().rank();
            const bool one = encoding == CategoryEncoding::one_hot;
            if (one && (rank > 2 || (rank == 2 && ids.shape()[1] != 1)))
              throw invalid_argument(fmt::format(
                  "expected one id for each example, [batch] or [batch, 1], got {}; of several, take "
                  "CategoryEncoding::multi_hot",
                  ids.type().to_string()));
            const Output flat = reshape(ids, {-1, rank == 1 ? 1 : last_dimension(ids)});
            const Output places = one_hot(flat, categories);
            return encoding == CategoryEncoding::count ? sum(places, {1}) : max(places, {1});
          }};
}

}  // namespace actorflow

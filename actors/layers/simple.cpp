// Layers without variables.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "actors/layers/checks.h"
#include "actors/layers/layers.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Of one example of x; all its dimensions are known, and there is an element.
std::int64_t elements_of(Output x) {
  const Shape batch = batch_of(x.shape());
  std::int64_t product = 1;
  for (const std::int64_t dim : batch.dims().subspan(1)) product *= dim;
  if (product == 0)
    throw invalid_argument(fmt::format("expected examples with elements, got {}", x.type().to_string()));
  return product;
}

// `wanted`, the shape of an example, behind the batch's dimension. A dimension of -1 is what is left of
// the elements of x.
Shape reshaped(const Shape& wanted, Output x) {
  const std::int64_t elements = elements_of(x);
  std::int64_t given = 1;
  for (const std::int64_t dim : wanted.dims())
    if (dim >= 0 && __builtin_mul_overflow(given, dim, &given)) given = 0;
  const bool is_open = std::ranges::count(wanted.dims(), Shape::unknown) > 0;
  if (given == 0 || (is_open ? elements % given != 0 : elements != given))
    throw invalid_argument(fmt::format("the {} elements of an example of {} do not make one of {}",
                                       elements, x.type().to_string(), wanted.to_string()));
  Shape result{-1};
  for (const std::int64_t dim : wanted.dims()) result.push_back(dim >= 0 ? dim : elements / given);
  return result;
}

}  // namespace

Layer dropout(double rate) {
  if (!(rate >= 0 && rate < 1))
    throw invalid_argument(fmt::format("dropout: expected a rate from 0 on and below 1, got {}", rate));
  return {"dropout", [rate](LayerScope& scope, Output x) {
            if (!scope.training() || rate == 0) return x;
            return dropout(x, rate, scope.seed(), scope.step());
          }};
}

Layer flatten() {
  return {"flatten", [](LayerScope&, Output x) { return reshape(x, {-1, elements_of(x)}); }};
}

Layer reshape(const Shape& shape) {
  if (std::ranges::count(shape.dims(), Shape::unknown) > 1)
    throw invalid_argument(
        fmt::format("reshape: expected at most one dimension of -1, got {}", shape.to_string()));
  return {"reshape", [shape](LayerScope& scope, Output x) {
            const Output y = reshape(x, reshaped(shape, x));
            scope.set_mask(y, {});
            return y;
          }};
}

Layer rescaling(double scale, double offset) {
  return {"rescaling", [=](LayerScope&, Output x) {
            const Output scaled = cast(x, DType::float32) * scale;
            return offset == 0 ? scaled : scaled + offset;
          }};
}

Layer activation(const Activation& function) {
  return {"activation", [function](LayerScope&, Output x) { return function(x); }};
}

}  // namespace actorflow

#include "actors/layers/checks.h"

#include <fmt/format.h>

#include "dataflow/values/error.h"

namespace actorflow {

void expect_positive(std::string_view layer, std::string_view what, std::int64_t value) {
  if (value < 1)
    throw invalid_argument(fmt::format("{}: expected {} of 1 or more, got {}", layer, what, value));
}

void expect_floating(Output x) {
  if (x.dtype() == DType::float32) return;
  const char* const advice =
      x.dtype() == DType::string ? "StringLookup and TextVectorization make ids of texts"
      : is_floating(x.dtype())   ? "cast the data to float32, by rescaling(1) or when they are read"
                                 : "rescaling() makes numbers of pixels, embedding() of ids";
  throw invalid_argument(fmt::format("expected float32, got {}; {}", x.type().to_string(), advice));
}

void expect_ids(Output x) {
  if (x.dtype() == DType::int32 || x.dtype() == DType::int64) return;
  throw invalid_argument(fmt::format(
      "expected ids of int32 or int64, got {}; {}", x.type().to_string(),
      x.dtype() == DType::string ? "StringLookup and TextVectorization make ids of texts"
      : is_floating(x.dtype())   ? "read them as int64, or make ids of numbers by discretization()"
                                 : "cast them to int32 when they are read"));
}

void expect_rank(Output x, int rank, std::string_view axes) {
  if (x.shape().rank() != rank)
    throw invalid_argument(fmt::format("expected {}, got {}", axes, x.type().to_string()));
}

void expect_rank_of_at_least(Output x, int rank) {
  if (x.shape().rank() < rank)
    throw invalid_argument(fmt::format(
        "expected {} or more dimensions with the batch's, got {}{}", rank, x.type().to_string(),
        x.shape().rank() == 1 ? "; examples that are single numbers need an axis of 1: "
                                "reshape({1}) makes it"
                              : ""));
}

std::int64_t last_dimension(Output x) {
  const std::int64_t last = x.shape().rank() < 1 ? Shape::unknown : x.shape()[x.shape().rank() - 1];
  if (last == Shape::unknown)
    throw invalid_argument(
        fmt::format("the last dimension must be known, got {}", x.type().to_string()));
  return last;
}

TensorType batched(const TensorType& example, std::int64_t examples) {
  Shape shape{examples};
  for (const std::int64_t dim : example.shape.dims()) shape.push_back(dim);
  return {example.dtype, shape};
}

Shape with_last(const Shape& shape, std::int64_t last) {
  Shape result = batch_of(shape);
  result.set(shape.rank() - 1, last);
  return result;
}

Shape batch_of(const Shape& shape) {
  Shape result = shape;
  for (int axis = 1; axis < shape.rank(); ++axis)
    if (shape[axis] == Shape::unknown)
      throw invalid_argument(
          fmt::format("all dimensions but the batch's must be known, got {}", shape.to_string()));
  result.set(0, -1);
  return result;
}

}  // namespace actorflow

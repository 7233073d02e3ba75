// Layers without variables.
#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

#include "actors/layers/checks.h"
#include "actors/layers/layers.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// REQUIRES: an input or more.
template <class Merge>
Output folded(const std::vector<Output>& inputs, Merge function) {
  return std::accumulate(inputs.begin() + 1, inputs.end(), inputs.front(), function);
}

template <class Merge>
Layer merge(const char* kind, Merge function) {
  return {kind, [=](LayerScope&, const std::vector<Output>& inputs) {
            if (inputs.size() < 2)
              throw invalid_argument(fmt::format("expected two inputs or more, got {}", inputs.size()));
            return folded(inputs, function);
          }};
}

void expect_inputs(const std::vector<Output>& inputs) {
  if (inputs.empty()) throw invalid_argument("expected one input or more, got none");
}

// The product of the dimensions that are known.
std::int64_t known_elements(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dim : shape.dims())
    if (dim > 0) product *= dim;
  return product;
}

// Of one example.
std::int64_t elements_of(Output x) { return known_elements(batch_of(x.shape())); }

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
  return {"reshape", [shape](LayerScope&, Output x) {
            Shape wanted{-1};
            for (const std::int64_t dim : shape.dims())
              wanted.push_back(dim >= 0 ? dim : elements_of(x) / known_elements(shape));
            return reshape(x, wanted);
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

Layer add() {
  return merge("add", [](Output a, Output b) { return add(a, b); });
}
Layer multiply() {
  return merge("multiply", [](Output a, Output b) { return multiply(a, b); });
}

Layer average() {
  return {"average", [](LayerScope&, const std::vector<Output>& inputs) {
            expect_inputs(inputs);
            const Output total = folded(inputs, [](Output a, Output b) { return a + b; });
            return total * (1.0 / static_cast<double>(inputs.size()));
          }};
}

Layer concatenate(std::int64_t axis) {
  return {"concatenate", [axis](LayerScope&, const std::vector<Output>& inputs) {
            expect_inputs(inputs);
            return concat(inputs, axis < 0 ? axis + inputs[0].shape().rank() : axis);
          }};
}

}  // namespace actorflow

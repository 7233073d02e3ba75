// Layers of several inputs.
#include <fmt/format.h>

#include <numeric>
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

void expect_two(const std::vector<Output>& inputs) {
  if (inputs.size() != 2)
    throw invalid_argument(fmt::format("expected two inputs, got {}", inputs.size()));
}

// Along an axis, of length 1, as Keras has it.
Output normalized(Output x, std::int64_t axis) {
  return x * rsqrt(maximum(sum(square(x), {axis}, true), scalar_like(x, 1e-12)));
}

// [batch, n] . [batch, n] -> [batch, 1]; of three dimensions the products of all pairs of vectors.
Output dot_product(Output a, Output b, std::int64_t axis) {
  const int rank = a.shape().rank();
  if (rank != b.shape().rank() || rank < 2 || rank > 3 || axis < 1 || axis >= rank)
    throw invalid_argument(fmt::format(
        "expected two inputs [batch, n], or [batch, m, n] and [batch, k, n], and one of their axes but "
        "the batch's, got {} and {} and the axis {}",
        a.type().to_string(), b.type().to_string(), axis));
  const auto along = static_cast<int>(axis);
  if (a.shape()[along] != b.shape()[along])
    throw invalid_argument(fmt::format("expected inputs of one length along axis {}, got {} and {}",
                                       axis, a.type().to_string(), b.type().to_string()));
  if (rank == 2) return sum(a * b, {1}, true);
  return batch_matmul(a, b, axis == 1, axis == 2);
}

}  // namespace

Layer add() {
  return merge("add", [](Output a, Output b) { return add(a, b); });
}
Layer multiply() {
  return merge("multiply", [](Output a, Output b) { return multiply(a, b); });
}
Layer maximum() {
  return merge("maximum", [](Output a, Output b) { return maximum(a, b); });
}
Layer minimum() {
  return merge("minimum", [](Output a, Output b) { return minimum(a, b); });
}

Layer subtract() {
  return {"subtract", [](LayerScope&, const std::vector<Output>& inputs) {
            expect_two(inputs);
            return inputs[0] - inputs[1];
          }};
}

Layer dot(std::int64_t axis, bool normalize) {
  return {"dot", [=](LayerScope&, const std::vector<Output>& inputs) {
            expect_two(inputs);
            for (const Output& x : inputs) expect_floating(x);
            const std::int64_t along = axis < 0 ? axis + inputs[0].shape().rank() : axis;
            const auto prepared = [&](Output x) { return normalize ? normalized(x, along) : x; };
            return dot_product(prepared(inputs[0]), prepared(inputs[1]), along);
          }};
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

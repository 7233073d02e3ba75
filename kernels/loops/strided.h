// Loops over several tensors of different layouts.
#pragma once

#include <array>
#include <cstdint>

#include "dataflow/values/check.h"
#include "dataflow/values/shape.h"
#include "kernels/devices/host_device.h"

namespace actorflow {

// A nest of loops with a stride, in elements, per loop and operand. Neighbouring loops are merged where
// all operands allow it: equal shapes, or a scalar with a tensor, make one loop, a matrix with a row
// two. A plain value, which GPU kernels take too.
template <int operands>
struct StridedLoops {
  using Strides = std::array<std::int64_t, operands>;

  int rank = 0;
  std::int64_t elements = 1;
  std::int64_t dims[Shape::max_rank] = {};
  std::int64_t strides[operands][Shape::max_rank] = {};

  // Adds the next inner loop.
  void append(std::int64_t dim, const Strides& stride);
  // Call after the last append(): if there is no loop, adds one of a single turn with strides of 1.
  void finish();

  // True if turn i uses element i of every operand.
  ACTORFLOW_HOST_DEVICE bool contiguous() const {
    for (int operand = 0; operand < operands; ++operand)
      if (rank != 1 || strides[operand][0] != 1) return false;
    return true;
  }

  // The offset of an operand at a turn of the nest.
  ACTORFLOW_HOST_DEVICE std::int64_t offset(int operand, std::int64_t turn) const {
    if (rank == 1) return turn * strides[operand][0];
#ifdef __CUDA_ARCH__
    // A GPU has no instruction for division: with 64 bits it takes several times as long as with 32.
    if (elements <= 0xffff'ffff) return divided<std::uint32_t>(operand, turn);
#endif
    return divided<std::int64_t>(operand, turn);
  }

  std::int64_t row_length() const { return dims[rank - 1]; }
  std::int64_t row_stride(int operand = 0) const { return strides[operand][rank - 1]; }

  // Calls row(turn, offsets) at the start of every run of the innermost loop, in order.
  template <class Row>
  void for_each_row(const Row& row) const;

 private:
  template <class Int>
  ACTORFLOW_HOST_DEVICE std::int64_t divided(int operand, std::int64_t turn) const {
    std::int64_t place = 0;
    auto rest = static_cast<Int>(turn);
    for (int axis = rank - 1; axis > 0; --axis) {
      const auto dim = static_cast<Int>(dims[axis]);
      place += static_cast<std::int64_t>(rest % dim) * strides[operand][axis];
      rest /= dim;
    }
    return place + static_cast<std::int64_t>(rest) * strides[operand][0];
  }
};

// The loops over `output` with inputs that broadcast to it by NumPy's rules. In the innermost loop an
// input's stride is 0 or 1. REQUIRES: the shapes are fully known and broadcast to `output`.
template <int inputs>
StridedLoops<inputs> broadcast_loops(const Shape& output, const std::array<Shape, inputs>& shapes);

// The strides, outermost first, of a tensor without gaps.
inline std::array<std::int64_t, Shape::max_rank> dense_strides(const Shape& shape) {
  std::array<std::int64_t, Shape::max_rank> strides{};
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= shape[axis];
  }
  return strides;
}

template <int operands>
void StridedLoops<operands>::append(std::int64_t dim, const Strides& stride) {
  elements *= dim;
  if (dim == 1) return;
  bool mergeable = rank > 0;
  for (std::size_t i = 0; i < operands && mergeable; ++i)
    mergeable = strides[i][rank - 1] == stride[i] * dim;
  if (!mergeable) dims[rank++] = 1;
  dims[rank - 1] *= dim;
  for (std::size_t i = 0; i < operands; ++i) strides[i][rank - 1] = stride[i];
}

template <int operands>
void StridedLoops<operands>::finish() {
  if (rank > 0) return;
  dims[rank++] = 1;
  for (auto& stride : strides) stride[0] = 1;
}

template <int operands>
template <class Row>
void StridedLoops<operands>::for_each_row(const Row& row) const {
  std::int64_t index[Shape::max_rank] = {};
  Strides offsets{};
  for (std::int64_t first = 0; first < elements; first += row_length()) {
    row(first, offsets);
    for (int axis = rank - 2; axis >= 0; --axis) {
      const bool carry = ++index[axis] == dims[axis];
      if (carry) index[axis] = 0;
      for (std::size_t i = 0; i < operands; ++i)
        offsets[i] += carry ? strides[i][axis] * (1 - dims[axis]) : strides[i][axis];
      if (!carry) break;
    }
  }
}

template <int inputs>
StridedLoops<inputs> broadcast_loops(const Shape& output, const std::array<Shape, inputs>& shapes) {
  StridedLoops<inputs> loops;
  for (int axis = 0; axis < output.rank(); ++axis) {
    std::array<std::int64_t, inputs> stride{};
    for (std::size_t i = 0; i < inputs; ++i) {
      const int own = axis - (output.rank() - shapes[i].rank());
      if (own < 0 || shapes[i][own] == 1) continue;
      ACTORFLOW_CHECK(shapes[i][own] == output[axis], shapes[i].to_string(), "to", output.to_string());
      stride[i] = dense_strides(shapes[i])[static_cast<std::size_t>(own)];
    }
    loops.append(output[axis], stride);
  }
  loops.finish();
  return loops;
}

}  // namespace actorflow

// Copies between tensors of different layouts, for slicing, joining, padding and transposing.
#pragma once

#include "kernels/core/kernel.h"
#include "kernels/loops/strided.h"

namespace actorflow {

// A tensor and the index of an element in it.
struct ConstPlace {
  const Tensor& tensor;
  std::int64_t offset = 0;
};
struct MutablePlace {
  Tensor& tensor;
  std::int64_t offset = 0;
};

// Copies element by element along the loops, whose operand 0 is the source and 1 the destination. Any
// dtype; strings are on the host. REQUIRES: both tensors have one dtype and are on `device`.
void strided_copy(Device& device, const StridedLoops<2>& loops, ConstPlace from, MutablePlace to);

// Makes every element of a tensor on `device` zero, or empty if it is a string.
void clear(Device& device, Tensor& tensor);

// The loops over a box of `dims` within two tensors without gaps.
StridedLoops<2> box_loops(const Shape& dims, const Shape& from, const Shape& to);

}  // namespace actorflow

// Sums of tensors whose bits do not depend on the order in which the tensors come.
//
// Binned summation, element by element, after Demmel, Ahrens and Nguyen (Efficient Reproducible Floating
// Point Summation and BLAS, 2016). The digits of all numbers are divided at fixed places into bins. Each
// bin has a sum of integers, which are the same in every order. Of an element only the three highest
// bins that any of its numbers has reached are kept: no lower one can come back.
#pragma once

#include <cstdint>

#include "dataflow/values/tensor.h"
#include "kernels/devices/device.h"
#include "kernels/devices/team.h"

namespace actorflow {

// Takes 13 bytes per element of float32 and 25 of float64, however many tensors are added. The error of
// a mean is that of rounding it (float64: three times), and at most 2^-32 (float64: 2^-64) of the
// largest number added. A zero is +0. Not thread-safe.
class ReproducibleSum {
 public:
  // Adds a tensor, on `device`. Throws invalid_argument for types that are neither float32 nor float64,
  // and for the 32,767th tensor of float32, and resource_exhausted; nothing has been added then. A team
  // shares the work on a large tensor of a CPU. REQUIRES: of the same type each time, and finite.
  void add(const Tensor& tensor, Device& device, Team* team = nullptr);
  // The number of tensors.
  std::int64_t count() const { return count_; }

  // The mean of the tensors that were added and of `last`, which may be empty. It is made in the memory
  // of `last` if that has no other holder. Throws as add(). REQUIRES: count() > 0 or `last`, and of that
  // what add() requires.
  Tensor mean(Tensor last, Device& device, Team* team = nullptr) const;

 private:
  DType dtype_ = DType::float32;
  Shape shape_;
  std::int64_t count_ = 0;
  Tensor sums_;  // [3, elements]: those of the highest bin first
  Tensor tops_;  // [elements]: the numbers of the highest bins
};

}  // namespace actorflow

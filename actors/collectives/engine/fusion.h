// Several tensors of one dtype as one, for an operation on all of them together.
#pragma once

#include <span>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

// One tensor after the other, as a tensor of one dimension. REQUIRES: one tensor or more, of one dtype
// that is not string, on the host.
Tensor fused(std::span<const Tensor> parts, Allocator& allocator);
// The parts again. A large one that is aligned stays where it is, and keeps all of them alive; others
// are copies. REQUIRES: `all` has their elements and no more.
std::vector<Tensor> cut(const Tensor& all, std::span<const Shape> shapes);

}  // namespace actorflow

// Several tensors of one dtype as one, for an operation on all of them together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

// `aligned`: a large tensor begins where the memory of a tensor of its own might, after zeros.
enum class FusedLayout : std::uint8_t { packed, aligned };

// One tensor after the other, as a tensor of one dimension. REQUIRES: one tensor or more, of one dtype
// that is not string, on the host.
Tensor fused(std::span<const Tensor> parts, FusedLayout layout, Allocator& allocator);
// The parts of an aligned one again. A large one stays where it is, and keeps all of them alive; others
// are copies. REQUIRES: `all` is as large as fused() has made it.
std::vector<Tensor> cut(const Tensor& all, std::span<const Shape> shapes);

}  // namespace actorflow

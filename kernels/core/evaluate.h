// One node computed at once, as when constants are folded.
#pragma once

#include <vector>

#include "kernels/core/kernel.h"

namespace actorflow {

// The node's outputs, on the CPU and on this thread alone. Throws what OpLibrary::make and the kernel
// throw.
std::vector<Tensor> evaluate_on_cpu(const OpLibrary& ops, const Node& node, std::vector<Tensor> inputs);

}  // namespace actorflow

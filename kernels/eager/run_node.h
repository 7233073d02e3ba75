// Running one node at once.
#pragma once

#include <span>

#include "kernels/eager/eager_context.h"

namespace actorflow {

// Throws unimplemented, naming the node and what to do instead, unless its op is computed by a kernel.
void expect_kernel(const Node& node);

// Computes the outputs of a node on the context's device, where the inputs are. Throws what the kernel
// throws, naming the node.
void run_node(EagerContext& context, const Node& node, std::span<Tensor> inputs,
              std::span<Tensor> outputs);

// The value of a Const node on the context's device.
Tensor constant_of(EagerContext& context, const Node& node);

}  // namespace actorflow

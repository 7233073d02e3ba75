// The fusion rules of the built-in ops: the nodes that each fused op replaces.
#pragma once

#include <optional>
#include <span>

#include "dataflow/transform/fuse.h"

namespace actorflow {

std::optional<Fused> fuse_matmul(const FusionContext& graph, NodeId last);              // fused_dense.cu
std::optional<Fused> fuse_relu_bias_grad(const FusionContext& graph, NodeId last);      // fused_dense.cu
std::optional<Fused> fuse_mean_cross_entropy(const FusionContext& graph, NodeId last);  // fusions.cpp

// All of them.
std::span<const FusionRule> builtin_fusions();

}  // namespace actorflow

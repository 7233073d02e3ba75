// Shared parts of the kernels of regions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "kernels/core/region.h"

namespace actorflow {

// Computes the context's outputs from its inputs, node after node.
void run_plainly(const RegionBody& body, OpContext& c);

// What graph_launches() returns.
std::atomic<std::uint64_t>& graph_launch_count();

#ifdef ACTORFLOW_CUDA
// The kernel of a region on a GPU (captured_region.cu).
std::unique_ptr<Kernel> make_captured_region(const Region& region, const OpLibrary& ops);
#endif

}  // namespace actorflow

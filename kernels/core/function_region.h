// A part of a graph as a function: a region that is called from outside of any step.
#pragma once

#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/transform/region.h"
#include "kernels/core/kernel.h"

namespace actorflow {

struct FunctionRegion {
  Region region;
  // For each input of the region, its position among the wanted inputs. Inputs that the outputs do not
  // need are left out.
  std::vector<std::size_t> inputs;
};

// The region that computes `outputs` from `inputs`. Throws invalid_argument for a node with an effect or
// with state, and what make_step() throws.
FunctionRegion function_region(const GraphDef& graph, const std::vector<Edge>& inputs,
                               const std::vector<Edge>& outputs);

// The same after what is done for the steps of sessions: constants folded, equal nodes merged, nodes
// fused into ops with a kernel for the device. It computes the same bits.
FunctionRegion simplified_function_region(const GraphDef& graph, const std::vector<Edge>& inputs,
                                          const std::vector<Edge>& outputs, const OpLibrary& ops,
                                          DeviceType device);

}  // namespace actorflow

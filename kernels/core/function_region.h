// A part of a graph as a function: a region that is called from outside of any step.
#pragma once

#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/transform/region.h"

namespace actorflow {

struct FunctionRegion {
  Region region;
  // Which of the inputs that were asked for each of the region's inputs is: what the outputs do not need
  // is left out.
  std::vector<std::size_t> inputs;
};

// What computes `outputs` from `inputs`. Throws invalid_argument for a node with an effect or with
// state, and what make_step() throws.
FunctionRegion function_region(const GraphDef& graph, const std::vector<Edge>& inputs,
                               const std::vector<Edge>& outputs);

}  // namespace actorflow

// The cut of a network into consecutive parts, which are computed in different places.
#pragma once

#include <string>
#include <vector>

#include "actors/layers/functional.h"
#include "dataflow/graph/tensor_types.h"

namespace actorflow {

// A part of a network.
struct ModelStage {
  std::vector<SymbolicTensor> results;  // of its layers, in the order in which they are built
  DeviceFunction device;                // of its nodes and variables
};

// The whole network as one stage, on this device of whatever task (device_in_task()).
std::vector<ModelStage> whole(const Architecture& architecture, const std::string& device);

// How to cut. The layers that a model uses twice stay in one part.
struct CutOptions {
  int stages = 1;
  // The layers with which the second, third, ... part begins; none: parts of about the same cost, by the
  // arithmetic of their layers for examples of these types. An op of the program's own counts its
  // results.
  std::vector<std::string> before{};
};

// The parts, without devices. Throws invalid_argument, naming layers, for a cut that is impossible.
std::vector<ModelStage> cut(const Architecture& architecture, const std::vector<TensorType>& inputs,
                            const CutOptions& options);

}  // namespace actorflow

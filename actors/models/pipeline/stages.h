// The cut of a network into consecutive parts, which are computed in different places.
#pragma once

#include <map>
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

// What each layer costs, with all its uses, by its name; in any unit.
using LayerCosts = std::map<std::string, double>;

// How to cut. The layers that a model uses twice stay in one part.
struct CutOptions {
  int stages = 1;
  // The layers with which the second, third, ... part begins; none: parts of about the same cost.
  std::vector<std::string> before{};
  // None: by the arithmetic of the layers for examples of these types. An op of the program's own counts
  // its results.
  LayerCosts costs{};
};

// The parts, without devices. Throws invalid_argument, naming layers, for a cut that is impossible, and
// for costs that are not those of the model's layers.
std::vector<ModelStage> cut(const Architecture& architecture, const std::vector<TensorType>& inputs,
                            const CutOptions& options);
// The layers with which all parts but the first begin: as CutOptions::before they make the same cut.
// Throws as cut().
std::vector<std::string> layers_to_cut_before(const Architecture& architecture,
                                              const std::vector<TensorType>& inputs,
                                              const CutOptions& options);

}  // namespace actorflow

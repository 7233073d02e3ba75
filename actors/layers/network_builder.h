// An architecture in a graph, layer by layer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/layers/functional.h"

namespace actorflow {

// The results of layers that the architecture's outputs need, each once, in the order in which
// Architecture::build() makes them. Throws invalid_argument for an output that needs another input.
std::vector<SymbolicTensor> layer_results(const Architecture& architecture);

// A layer with its name in the model, and its results, one for each of its uses.
struct NamedLayer {
  std::string name;
  Layer layer;
  std::vector<SymbolicTensor> results{};
};

// The layers of an architecture in the order of layer_results(). Throws as that does, and for two layers
// of one name.
std::vector<NamedLayer> named_layers(const Architecture& architecture);

// The same layers, between inputs of these types. REQUIRES: a type for each input.
Architecture with_input_types(const Architecture& architecture, const std::vector<TensorType>& types);

// Throws invalid_argument, with the layers that there are, for a frozen one that is none of them.
void check_frozen(const Architecture& architecture);

// Builds tensors of an architecture, each once. REQUIRES: the pass outlives this.
class NetworkBuilder {
 public:
  // `inputs` are in the order of Architecture::inputs.
  NetworkBuilder(ModelPass& pass, const Architecture& architecture, const std::vector<Output>& inputs);

  // Adds what the tensor still needs. Throws as Architecture::build() does.
  Output build(const SymbolicTensor& tensor);

 private:
  LayerScope scope_;
  std::vector<std::pair<SymbolicTensor, Output>> values_;
};

}  // namespace actorflow

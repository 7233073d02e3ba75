#include "actors/layers/network_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

[[noreturn]] void refuse_input() {
  throw invalid_argument(
      "an output of the model needs an input that is not among its inputs; list all "
      "inputs when you make the model");
}

void add_results(const SymbolicTensor& tensor, const Architecture& architecture,
                 std::vector<SymbolicTensor>& results) {
  const auto is_among = [&](const std::vector<SymbolicTensor>& tensors) {
    return std::ranges::find(tensors, tensor) != tensors.end();
  };
  if (is_among(architecture.inputs) || is_among(results)) return;
  if (!tensor.def().layer) refuse_input();
  for (const SymbolicTensor& input : tensor.def().inputs) add_results(input, architecture, results);
  results.push_back(tensor);
}

}  // namespace

std::vector<SymbolicTensor> layer_results(const Architecture& architecture) {
  std::vector<SymbolicTensor> results;
  for (const SymbolicTensor& output : architecture.outputs) add_results(output, architecture, results);
  return results;
}

std::vector<NamedLayer> named_layers(const Architecture& architecture) {
  LayerNames names;
  std::vector<NamedLayer> layers;
  for (const SymbolicTensor& result : layer_results(architecture)) {
    const Layer& layer = *result.def().layer;
    auto known = std::ranges::find(layers, layer, &NamedLayer::layer);
    if (known == layers.end()) {
      layers.push_back({.name = names.of(layer), .layer = layer});
      known = layers.end() - 1;
    }
    known->results.push_back(result);
  }
  return layers;
}

Architecture with_input_types(const Architecture& architecture, const std::vector<TensorType>& types) {
  std::vector<std::pair<SymbolicTensor, SymbolicTensor>> made;  // of the tensors of the architecture
  const auto made_of = [&made](const std::vector<SymbolicTensor>& tensors) {
    std::vector<SymbolicTensor> result;
    for (const SymbolicTensor& tensor : tensors)
      result.push_back(
          std::ranges::find(made, tensor, [](const auto& entry) { return entry.first; })->second);
    return result;
  };
  for (std::size_t i = 0; i < architecture.inputs.size(); ++i) {
    SymbolicTensor::Def def = architecture.inputs[i].def();
    def.type = types.at(i);
    made.emplace_back(architecture.inputs[i], SymbolicTensor(std::move(def)));
  }
  for (const SymbolicTensor& result : layer_results(architecture))
    made.emplace_back(
        result, SymbolicTensor({.layer = result.def().layer, .inputs = made_of(result.def().inputs)}));
  return {made_of(architecture.inputs), made_of(architecture.outputs), architecture.frozen};
}

void check_frozen(const Architecture& architecture) {
  if (architecture.frozen.empty()) return;
  std::vector<std::string> names;
  for (const NamedLayer& layer : named_layers(architecture)) names.push_back(layer.name);
  for (const std::string& frozen : architecture.frozen)
    if (std::ranges::find(names, frozen) == names.end())
      throw invalid_argument(fmt::format(
          "Architecture::frozen: the model has no layer '{}' that could be frozen; its layers "
          "are {}",
          frozen, fmt::join(names, ", ")));
}

NetworkBuilder::NetworkBuilder(ModelPass& pass, const Architecture& architecture,
                               const std::vector<Output>& inputs)
    : scope_(pass) {
  check_frozen(architecture);
  pass.frozen = architecture.frozen;
  for (std::size_t i = 0; i < architecture.inputs.size(); ++i)
    values_.emplace_back(architecture.inputs[i], inputs.at(i));
}

Output NetworkBuilder::build(const SymbolicTensor& tensor) {
  const auto known = std::ranges::find(values_, tensor, [](const auto& entry) { return entry.first; });
  if (known != values_.end()) return known->second;
  const auto& def = tensor.def();
  if (!def.layer) refuse_input();
  std::vector<Output> inputs;
  for (const SymbolicTensor& input : def.inputs) inputs.push_back(build(input));
  return values_.emplace_back(tensor, scope_.apply(*def.layer, inputs)).second;
}

}  // namespace actorflow

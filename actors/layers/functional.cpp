#include "actors/layers/functional.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Builds what the outputs need, each tensor once.
class Builder {
 public:
  explicit Builder(ModelPass& pass) : scope_(pass) {}

  void give(const SymbolicTensor& input, Output value) { values_.emplace_back(input, value); }

  Output build(const SymbolicTensor& tensor) {
    const auto known = std::ranges::find(values_, tensor, [](const auto& entry) { return entry.first; });
    if (known != values_.end()) return known->second;
    const auto& def = tensor.def();
    if (!def.layer)
      throw invalid_argument(
          "an output of the model needs an input that is not among its inputs; list all "
          "inputs when you make the model");
    std::vector<Output> inputs;
    for (const SymbolicTensor& input : def.inputs) inputs.push_back(build(input));
    return values_.emplace_back(tensor, scope_.apply(*def.layer, inputs)).second;
  }

 private:
  LayerScope scope_;
  std::vector<std::pair<SymbolicTensor, Output>> values_;
};

}  // namespace

SymbolicTensor Layer::operator()(const SymbolicTensor& input) const {
  return (*this)(std::vector<SymbolicTensor>{input});
}

SymbolicTensor Layer::operator()(const std::vector<SymbolicTensor>& inputs) const {
  return SymbolicTensor({.layer = *this, .inputs = inputs});
}

SymbolicTensor input(const Shape& shape, DType dtype, std::string name) {
  return SymbolicTensor({.type = {dtype, shape}, .name = std::move(name)});
}

std::vector<Output> Architecture::build(ModelPass& pass, const std::vector<Output>& values) const {
  Builder builder(pass);
  for (std::size_t i = 0; i < inputs.size(); ++i) builder.give(inputs[i], values.at(i));
  std::vector<Output> results;
  for (const SymbolicTensor& output : outputs) results.push_back(builder.build(output));
  return results;
}

Architecture chain(const std::vector<Layer>& layers, std::optional<SymbolicTensor> first) {
  if (layers.empty()) throw invalid_argument("a model needs at least one layer, got none");
  const SymbolicTensor begin = first ? *first : SymbolicTensor(SymbolicTensor::Def{});
  SymbolicTensor end = begin;
  for (const Layer& layer : layers) end = layer(end);
  return {{begin}, {end}};
}

}  // namespace actorflow

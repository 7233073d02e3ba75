#include "actors/layers/functional.h"

#include "actors/layers/network_builder.h"
#include "dataflow/values/error.h"

namespace actorflow {

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
  NetworkBuilder network(pass, *this, values);
  std::vector<Output> results;
  for (const SymbolicTensor& output : outputs) results.push_back(network.build(output));
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

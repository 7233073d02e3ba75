#include "actors/layers/layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/layers/checks.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// FNV-1a: a seed for each name, so that a layer that is added changes no other's weights.
std::uint64_t mixed(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ (seed * 0x9e3779b97f4a7c15);
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash >> 1;  // attributes of nodes are signed
}

// The mask that a result has from the inputs of its layer, or none.
Output mask_from(const std::vector<Output>& inputs, Output result, const ModelPass& pass) {
  Output all;
  for (const Output& input : inputs) {
    const Output mask = pass.mask(input);
    if (!mask || result.shape().rank() < 3 || result.shape()[1] != mask.shape()[1]) return {};
    all = !all || all.edge == mask.edge ? mask : logical_or(all, mask);
  }
  return all;
}

}  // namespace

Layer::Layer(std::string kind, Function function)
    : Layer(std::move(kind),
            FunctionOfSeveral(
                [function = std::move(function)](LayerScope& scope, const std::vector<Output>& inputs) {
                  if (inputs.size() != 1)
                    throw invalid_argument(fmt::format("expected one input, got {}", inputs.size()));
                  return function(scope, inputs[0]);
                })) {}

Layer::Layer(std::string kind, FunctionOfSeveral function)
    : def_(std::make_shared<const Def>(Def{std::move(kind), "", std::move(function)})) {}

Layer Layer::named(std::string name) const {
  return Layer(std::make_shared<const Def>(Def{kind(), std::move(name), def_->function}));
}

Output Layer::build(LayerScope& scope, const std::vector<Output>& inputs) const {
  return def_->function(scope, inputs);
}

Output ModelPass::mask(Output x) const {
  const auto found = masks.find(x.edge);
  return found == masks.end() ? Output() : found->second;
}

const ModelVariables::Entry* ModelVariables::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(entries, [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<Variable> ModelVariables::all() const {
  std::vector<Variable> result;
  for (const Entry& entry : entries) result.push_back(entry.variable);
  return result;
}

std::vector<Variable> ModelVariables::trained() const {
  std::vector<Variable> result;
  for (const Entry& entry : entries)
    if (entry.trained) result.push_back(entry.variable);
  return result;
}

std::uint64_t LayerScope::seed() {
  return mixed(pass_.seed, fmt::format("{}seed {}", prefix_, seeds_++));
}

Variable LayerScope::weight(std::string_view name, const Shape& shape, const Initializer& initial,
                            const Regularizer& regularizer) {
  return variable(name, shape, initial, true, regularizer);
}

Variable LayerScope::average(std::string_view name, const Shape& shape, const Initializer& initial) {
  return variable(name, shape, initial, false, {});
}

Variable LayerScope::variable(std::string_view name, const Shape& shape, const Initializer& initial,
                              bool trained, const Regularizer& regularizer) {
  if (!shape.fully_known())
    throw invalid_argument(
        fmt::format("the variable '{}' would be of shape {}; give the model the shape "
                    "of its inputs, without unknown dimensions but the batch's",
                    name, shape.to_string()));
  const std::string full = prefix_ + std::string(name);
  if (const auto* entry = pass_.variables.find(full)) {
    if (entry->variable.type().shape == shape) return entry->variable;
    throw invalid_argument(
        fmt::format("its variable '{}' has the shape {}, but these inputs need {}: a layer that is used "
                    "twice, or two "
                    "layers of one name, take inputs of one shape",
                    name, entry->variable.type().shape.to_string(), shape.to_string()));
  }
  const Variable variable = graph().variable(name, initial(graph(), shape, mixed(pass_.seed, full)));
  if (variable.name() != full)
    throw invalid_argument(fmt::format("the graph has nodes of the name '{}' already", full));
  pass_.variables.entries.push_back(
      {full, variable, trained && trainable_, trainable_ ? regularizer : Regularizer{}});
  return variable;
}

const std::string& LayerNames::of(const Layer& layer) {
  for (const auto& [known, name] : names_)
    if (known == layer) return name;
  const auto taken = [this](const std::string& name) {
    return std::ranges::any_of(names_, [&](const auto& entry) { return entry.second == name; });
  };
  std::string name = layer.name();
  if (!name.empty() && taken(name))
    throw invalid_argument(
        fmt::format("two layers are named '{}'; give one of them another name", name));
  if (name.empty()) name = layer.kind();
  for (int number = 1; taken(name); ++number) name = fmt::format("{}_{}", layer.kind(), number);
  return names_.emplace_back(layer, std::move(name)).second;
}

Output LayerScope::apply(const Layer& layer, const std::vector<Output>& inputs) {
  const std::string name = names_.of(layer);
  const bool is_frozen = prefix_.empty() && pass_.frozen.contains(name);
  LayerScope inner(pass_, prefix_ + name + "/", trainable_ && !is_frozen);
  return graph().name_scope(name, [&] {
    const Output result = built_as("layer", name, [&] { return layer.build(inner, inputs); });
    if (!pass_.masks.empty() && !pass_.masks.contains(result.edge))
      if (const Output mask = mask_from(inputs, result, pass_)) pass_.masks.emplace(result.edge, mask);
    if (prefix_.empty()) pass_.layers.push_back({name, layer.kind(), result.type(), inner.trainable()});
    return result;
  });
}

}  // namespace actorflow

#include "actors/models/pipeline/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "actors/layers/checks.h"
#include "actors/layers/network_builder.h"
#include "actors/models/pipeline/balanced_cut.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"
#include "dataflow/values/spelling.h"
#include "kernels/library/library.h"

namespace actorflow {
namespace {

// A use of a layer, in the order in which they are built.
struct Use {
  SymbolicTensor result;
  std::string name;  // of the layer
  double cost = 0;
};

double elements(const Shape& shape) {
  double product = 1;
  for (const std::int64_t dim : shape.dims()) product *= dim > 0 ? static_cast<double>(dim) : 1;
  return product;
}

// Whether this is the op of ours with one of these names, which no op of a program's own can have.
bool is_one_of(const Node& node, std::initializer_list<std::string_view> names) {
  const OpRegistry& ours = builtin_library().ops().registry();
  return std::ranges::any_of(names, [&](std::string_view name) { return node.op == ours.find(name); });
}

// The multiplications of a node for one example, about: of what has products, and else one for each
// result.
double cost_of(const GraphDef& graph, const Node& node) {
  double results = 0;
  for (const TensorType& type : node.outputs) results += elements(type.shape);
  const auto input = [&](std::size_t i) -> const Shape& { return graph.type(node.inputs[i]).shape; };
  if (is_one_of(node, {"MatMul", "FusedMatMul", "BatchMatMul"})) {
    const bool rows = node.attrs.contains("transpose_a") && attr<bool>(node, "transpose_a");
    return results * elements({input(0)[input(0).rank() - (rows ? 2 : 1)]});
  }
  if (is_one_of(node, {"Conv2D", "FusedConv2D"}))
    return results * elements(input(1)) / elements({input(1)[3]});
  // Queries and keys are [batch, length, heads, width].
  if (is_one_of(node, {"DotProductAttention"})) return 2 * elements(input(0)) * elements({input(1)[1]});
  return results;
}

std::vector<Use> uses_of_layers(const Architecture& architecture, const std::vector<TensorType>& types) {
  Graph graph;
  std::vector<Output> inputs;
  for (const TensorType& type : types)
    inputs.push_back(graph.placeholder(type.dtype, batched(type).shape));
  ModelVariables variables;
  ModelPass pass{.graph = graph, .variables = variables};
  NetworkBuilder network(pass, architecture, inputs);
  std::vector<Use> uses;
  for (const SymbolicTensor& result : layer_results(architecture)) {
    const NodeId first = graph.def().size();
    network.build(result);
    Use use{.result = result, .name = pass.layers.back().name};
    for (NodeId id = first; id < graph.def().size(); ++id)
      use.cost += cost_of(graph.def(), graph.def().node(id));
    uses.push_back(std::move(use));
  }
  return uses;
}

// A layer that is used on both sides of a border before use `border`; "" if there is none.
std::string divided_layer(const std::vector<Use>& uses, std::size_t border) {
  for (std::size_t before = 0; before < border; ++before)
    for (std::size_t after = border; after < uses.size(); ++after)
      if (uses[before].name == uses[after].name) return uses[after].name;
  return {};
}

std::string names_of(const std::vector<Use>& uses) { return joined(uses, ", ", &Use::name); }

// Borders: the first uses of all parts but the first.
using Borders = std::vector<std::size_t>;

Borders named_borders(const std::vector<Use>& uses, const CutOptions& options) {
  if (options.before.size() + 1 != static_cast<std::size_t>(options.stages))
    throw invalid_argument(
        fmt::format("pipeline: {} stages have {} borders, but {} layers are named to cut before",
                    options.stages, options.stages - 1, options.before.size()));
  Borders borders;
  for (const std::string& name : options.before) {
    const auto found = std::ranges::find(uses, name, &Use::name);
    if (found == uses.end()) {
      std::vector<std::string_view> known;
      for (const Use& use : uses) known.push_back(use.name);
      throw invalid_argument(fmt::format("pipeline: no layer is named '{}'; the model has {}{}", name,
                                         names_of(uses), did_you_mean(name, known)));
    }
    const auto border = static_cast<std::size_t>(found - uses.begin());
    if (border == 0 || (!borders.empty() && border <= borders.back()))
      throw invalid_argument(
          fmt::format("pipeline: a cut before '{}' leaves a stage without layers; the order is {}", name,
                      names_of(uses)));
    if (const std::string shared = divided_layer(uses, border); !shared.empty())
      throw invalid_argument(
          fmt::format("pipeline: a cut before '{}' divides the layer '{}', which is used on both sides",
                      name, shared));
    borders.push_back(border);
  }
  return borders;
}

// Every layer has one: a name that was forgotten would be a layer that costs nothing.
void set_costs(std::vector<Use>& uses, const LayerCosts& costs) {
  std::vector<std::string_view> known;
  for (const Use& use : uses) known.push_back(use.name);
  for (const auto& [name, cost] : costs) {
    if (std::ranges::find(known, name) == known.end())
      throw invalid_argument(fmt::format("pipeline: a cost is given for '{}'; the model has {}{}", name,
                                         names_of(uses), did_you_mean(name, known)));
    if (!(cost >= 0) || !std::isfinite(cost))
      throw invalid_argument(
          fmt::format("pipeline: the cost of '{}' is {}; expected 0 or more", name, cost));
  }
  for (Use& use : uses) {
    const auto found = costs.find(use.name);
    if (found == costs.end())
      throw invalid_argument(fmt::format("pipeline: no cost is given for '{}'; give one for each of {}",
                                         use.name, names_of(uses)));
    use.cost = found->second / static_cast<double>(std::ranges::count(known, use.name));
  }
}

Borders balanced_borders(const std::vector<Use>& uses, int stages) {
  std::vector<double> costs;
  for (const Use& use : uses) costs.push_back(use.cost);
  Borders allowed;
  for (std::size_t border = 1; border < uses.size(); ++border)
    if (divided_layer(uses, border).empty()) allowed.push_back(border);
  if (allowed.size() + 1 < static_cast<std::size_t>(stages))
    throw invalid_argument(fmt::format(
        "pipeline: the model can be cut into at most {} parts, but {} stages are wanted; "
        "its layers are {}{}",
        allowed.size() + 1, stages, names_of(uses),
        allowed.size() + 1 < uses.size() ? ", and a layer that is used twice stays whole" : ""));
  return balanced_cut(costs, allowed, stages);
}

Borders borders_of(std::vector<Use>& uses, const CutOptions& options) {
  if (options.stages < 1)
    throw invalid_argument(fmt::format("pipeline: expected 1 stage or more, got {}", options.stages));
  if (!options.before.empty()) return named_borders(uses, options);
  if (!options.costs.empty()) set_costs(uses, options.costs);
  return balanced_borders(uses, options.stages);
}

}  // namespace

std::vector<ModelStage> whole(const Architecture& architecture, const std::string& device) {
  return {{layer_results(architecture),
           [place = device_in_task(device)](const Node&) { return place; }}};
}

std::vector<ModelStage> cut(const Architecture& architecture, const std::vector<TensorType>& inputs,
                            const CutOptions& options) {
  auto uses = uses_of_layers(architecture, inputs);
  Borders borders = borders_of(uses, options);
  borders.push_back(uses.size());
  std::vector<ModelStage> stages(borders.size());
  std::size_t use = 0;
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (; use < borders[i]; ++use) stages[i].results.push_back(uses[use].result);
  return stages;
}

std::vector<std::string> layers_to_cut_before(const Architecture& architecture,
                                              const std::vector<TensorType>& inputs,
                                              const CutOptions& options) {
  auto uses = uses_of_layers(architecture, inputs);
  std::vector<std::string> names;
  for (const std::size_t border : borders_of(uses, options)) names.push_back(uses[border].name);
  return names;
}

}  // namespace actorflow

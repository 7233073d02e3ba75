#include "actors/models/network/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "actors/layers/checks.h"
#include "actors/layers/network_builder.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/values/error.h"
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

std::string names_of(const std::vector<Use>& uses) {
  std::string text;
  for (const Use& use : uses) text += (text.empty() ? "" : ", ") + use.name;
  return text;
}

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

// The borders with which the most costly part costs least, by dynamic programming.
class BalancedCut {
 public:
  explicit BalancedCut(const std::vector<Use>& uses) : uses_(uses) {
    for (const Use& use : uses) sums_.push_back(sums_.back() + use.cost);
    for (std::size_t border = 1; border < uses.size(); ++border)
      if (divided_layer(uses, border).empty()) allowed_.push_back(border);
  }

  Borders make(int stages) const {
    if (allowed_.size() + 1 < static_cast<std::size_t>(stages))
      throw invalid_argument(fmt::format(
          "pipeline: the model can be cut into at most {} parts, but {} stages are wanted; "
          "its layers are {}{}",
          allowed_.size() + 1, stages, names_of(uses_),
          allowed_.size() + 1 < uses_.size() ? ", and a layer that is used twice stays whole" : ""));
    return best(0, 0, stages).borders;
  }

 private:
  struct Found {
    double cost = std::numeric_limits<double>::infinity();
    Borders borders;
  };

  double cost(std::size_t from, std::size_t to) const { return sums_[to] - sums_[from]; }

  // Of the uses from `first` on; `next` counts the borders in front of them.
  Found best(std::size_t first, std::size_t next, int stages) const {
    if (stages == 1) return {cost(first, uses_.size()), {}};
    auto& known = known_[{next, stages}];
    if (known) return *known;
    Found found;
    for (std::size_t i = next; i + static_cast<std::size_t>(stages) <= allowed_.size() + 1; ++i) {
      Found rest = best(allowed_[i], i + 1, stages - 1);
      const double most = std::max(cost(first, allowed_[i]), rest.cost);
      if (most >= found.cost) continue;
      rest.borders.insert(rest.borders.begin(), allowed_[i]);
      found = {most, std::move(rest.borders)};
    }
    known = found;
    return found;
  }

  const std::vector<Use>& uses_;
  std::vector<double> sums_{0};
  std::vector<std::size_t> allowed_;
  mutable std::map<std::pair<std::size_t, int>, std::optional<Found>> known_;
};

}  // namespace

std::vector<ModelStage> whole(const Architecture& architecture, const std::string& device) {
  return {{layer_results(architecture),
           [place = device_in_task(device)](const Node&) { return place; }}};
}

std::vector<ModelStage> cut(const Architecture& architecture, const std::vector<TensorType>& inputs,
                            const CutOptions& options) {
  if (options.stages < 1)
    throw invalid_argument(fmt::format("pipeline: expected 1 stage or more, got {}", options.stages));
  const auto uses = uses_of_layers(architecture, inputs);
  Borders borders =
      options.before.empty() ? BalancedCut(uses).make(options.stages) : named_borders(uses, options);
  borders.push_back(uses.size());
  std::vector<ModelStage> stages(borders.size());
  std::size_t use = 0;
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (; use < borders[i]; ++use) stages[i].results.push_back(uses[use].result);
  return stages;
}

}  // namespace actorflow

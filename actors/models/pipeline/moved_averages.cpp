#include "actors/models/pipeline/moved_averages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "dataflow/graph/state_ops.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// An assign_add() returns the new value; after an assign() it is read anew.
Variable after_update(Graph& graph, const Variable& variable, Output update) {
  if (update.node().op == &assign_add_variable_op()) return variable.with_value(update);
  const auto known = std::ranges::find(graph.variables(), variable.name(), &Variable::name);
  const Node first_read = known->value().node();  // a copy: the graph grows
  return variable.with_value(graph.on(first_read.device, [&] {
    return graph.after({update},
                       [&] { return graph.add(read_variable_op(), {}, first_read.attrs, "read"); });
  }));
}

std::size_t entry_of(const ModelVariables& variables, const Node& update) {
  const auto& name = attr<std::string>(update, "variable");
  const auto found = std::ranges::find_if(
      variables.entries, [&](const auto& entry) { return entry.variable.name() == name; });
  if (found == variables.entries.end())
    throw invalid_argument(fmt::format("'{}' updates '{}', which is no variable of a layer of the model",
                                       update.name, name));
  return static_cast<std::size_t>(found - variables.entries.begin());
}

}  // namespace

MovedAverage move_average(const ModelVariables& variables, Output update, Output counts) {
  Graph& graph = *update.graph;
  const Node node = update.node();  // a copy: the graph grows
  const bool adds = node.op == &assign_add_variable_op();
  if (!adds && node.op != &assign_variable_op())
    throw invalid_argument(
        fmt::format("'{}': with micro-batches or AutoShardPolicy::off a layer's update must be an "
                    "assignment to an average, but "
                    "is the op {}",
                    node.name, node.op->name));
  const std::size_t entry = entry_of(variables, node);
  const Variable before = variables.entries[entry].variable;
  const Output value{&graph, node.inputs[0]};
  const Output moved = select(counts, value, adds ? zeros_like(value) : before.value());
  const Output assigned = graph.after({before.value()}, [&] {
    return adds ? graph.assign_add(before, moved) : graph.assign(before, moved);
  });
  return {assigned, entry, after_update(graph, before, assigned)};
}

}  // namespace actorflow

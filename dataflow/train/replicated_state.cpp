#include "dataflow/train/replicated_state.h"

#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/collective_ops.h"
#include "dataflow/ops/replicated_ops.h"

namespace actorflow {
namespace {

constexpr const char* collective = "state of the first replica";

Attrs names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name());
  return {{"variables", Tensor::of<std::string>({std::ssize(names)}, names)}};
}

Output copy_with_controls(Graph& graph, const Output& assignment, const std::vector<Output>& before) {
  const Node node = assignment.node();  // a copy: the graph grows
  if (node.op != &assign_variable_op() && node.op != &assign_add_variable_op())
    throw invalid_argument(
        "'" + node.name +
        "': with all-reduce what a step changes besides the trained variables must be "
        "an assignment, but is the op " +
        std::string(node.op->name));
  std::vector<Output> inputs;
  for (const Edge& edge : node.inputs) inputs.push_back({&graph, edge});
  return graph.on(node.device, [&] {
    return graph.after(before, [&] { return graph.add(*node.op, inputs, node.attrs, node.name); });
  });
}

}  // namespace

Output copy_state_of_first(Graph& graph, const std::vector<Variable>& variables,
                           const std::vector<std::string>& tasks, int replica) {
  const RankList ranks{tasks, GroupLife::begins};
  return graph.on(tasks.at(static_cast<std::size_t>(replica)), [&] {
    return graph.name_scope("replicated", [&] {
      const Attrs names = names_of(variables);
      if (replica == 0)
        return graph.group({all_gather(graph.add(read_state_op(), {}, names), ranks, collective)});
      const Output nothing = graph.constant(Tensor::zeros(DType::uint8, {0}));
      return graph.add(assign_state_op(), {all_gather(nothing, ranks, collective)}, names);
    });
  });
}

Output read_state(Graph& graph, const std::vector<Variable>& variables) {
  return graph.add(read_state_op(), {}, names_of(variables));
}

Output assign_state(const Output& bytes, const std::vector<Variable>& variables) {
  return bytes.graph->add(assign_state_op(), {bytes}, names_of(variables));
}

std::vector<Output> with_step(const TrainOp& train, const std::vector<Output>& assignments) {
  if (train.agreed.empty()) return assignments;
  std::vector<Output> after;
  for (const Output& assignment : assignments)
    after.push_back(copy_with_controls(*assignment.graph, assignment, train.agreed));
  return after;
}

}  // namespace actorflow

#include "dataflow/train/replicated_state.h"

#include <algorithm>

#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/collective_ops.h"
#include "dataflow/ops/replicated_ops.h"
#include "dataflow/ops/sliced_ops.h"

namespace actorflow {
namespace {

constexpr const char* collective = "state of the first replica";
constexpr const char* slots_collective = "slots of the first replica";
constexpr const char* slots_are_there = "slots are there";

Attrs names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name());
  return {{"variables", Tensor::of<std::string>({std::ssize(names)}, names)}};
}

Attrs attrs_of_rank(const SlicedVariables& sliced, int rank) {
  Attrs attrs = slice_attrs(sliced);
  attrs["rank"] = std::int64_t{rank};
  return attrs;
}

// Each rank's slots, of those that the first replica has, once the ranks have the variables: in the life
// that those have begun, for a rank that is lost meanwhile must not find others in the middle.
Output divide_slots_of_first(Graph& graph, const ShardedOptimizer& optimizer,
                             const std::vector<std::string>& tasks, int replica,
                             const Output& variables) {
  const RankList ranks{tasks, GroupLife::continues};
  Output slots, bytes;
  if (replica == 0) {
    slots = graph.add(divide_slots_op(), {}, slice_attrs(optimizer.sliced));
    bytes = slots.output(1);
  } else {
    slots = graph.constant(Tensor::zeros(DType::uint8, {0}));
    bytes = graph.constant(Tensor::zeros(DType::int64, {std::ssize(ranks.tasks)}));
  }
  const Output assigned = graph.after({variables}, [&] {
    const Output own = all_to_all(slots, bytes, ranks, slots_collective);
    const Variable step = global_step(graph);
    const Output now = graph.add(read_variable_op(), {}, step.value().node().attrs);
    return graph.add(assign_slot_slices_op(), {own, now}, attrs_of_rank(optimizer.sliced, replica));
  });
  // No rank is done before all are: the first one may then ask the others for their slots, to save them.
  const Output nothing = graph.constant(Tensor::zeros(DType::uint8, {0}));
  return graph.after({assigned},
                     [&] { return graph.group({all_gather(nothing, ranks, slots_are_there)}); });
}

// What the replicas agreed on is now what the first one has, and the outer momentum begins anew: it
// would be that of values which may be gone, such as those before a restore.
std::vector<Output> agree_on_own_values(Graph& graph) {
  std::vector<Output> taken;
  for (const AgreedVariable& of : agreed_variables(graph.def()))
    taken.push_back(graph.add(take_value_op(), {},
                              {{"variable", of.agreed}, {"from", of.variable}, {"forget_slots", true}},
                              "begin_round"));
  return taken;
}

// The slices of these variables; of one whose slots are not divided nothing.
SlicedVariables slices_of(const SlicedVariables& all, const std::vector<Variable>& variables) {
  const auto width = static_cast<std::ptrdiff_t>(all.ranks) + 1;
  SlicedVariables some{.variables = {}, .ranks = all.ranks, .borders = {}};
  for (const Variable& variable : variables) {
    const auto found = std::ranges::find(all.variables, variable.name()) - all.variables.begin();
    some.variables.push_back(variable.name());
    if (found == std::ssize(all.variables))
      some.borders.insert(some.borders.end(), static_cast<std::size_t>(width), 0);
    else
      some.borders.insert(some.borders.end(), all.borders.begin() + found * width,
                          all.borders.begin() + (found + 1) * width);
  }
  return some;
}

// What the other replicas have of the slots.
std::vector<Output> slots_of_others(Graph& graph, const std::vector<Variable>& variables) {
  const ShardedOptimizer optimizer = sharded_optimizer(graph.def());
  std::vector<Output> slots;
  if (!optimizer) return slots;
  const SlicedVariables sliced = slices_of(optimizer.sliced, variables);
  for (int rank = 0; rank < std::ssize(optimizer.tasks); ++rank) {
    if (rank == optimizer.rank) continue;
    slots.push_back(graph.on(optimizer.tasks[static_cast<std::size_t>(rank)], [&] {
      return graph.add(read_slot_slices_op(), {global_step(graph).value()},
                       attrs_of_rank(sliced, rank));
    }));
  }
  return slots;
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
      const ShardedOptimizer optimizer = sharded_optimizer(graph.def());
      Attrs names = names_of(variables);
      Output there;
      if (replica == 0) {
        if (optimizer) names["values_only"] = slice_attrs(optimizer.sliced)["variables"];
        const Output state = graph.after(agree_on_own_values(graph),
                                         [&] { return graph.add(read_state_op(), {}, names); });
        there = graph.group({all_gather(state, ranks, collective)});
      } else {
        const Output nothing = graph.constant(Tensor::zeros(DType::uint8, {0}));
        there = graph.add(assign_state_op(), {all_gather(nothing, ranks, collective)}, names);
      }
      return optimizer ? divide_slots_of_first(graph, optimizer, tasks, replica, there) : there;
    });
  });
}

Output read_state(Graph& graph, const std::vector<Variable>& variables) {
  return graph.add(read_state_op(), slots_of_others(graph, variables), names_of(variables));
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

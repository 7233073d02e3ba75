#include "bench/training/plain_step.h"

#include <utility>

#include "actors/master/step_plan.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow::bench {
namespace {

// The only task of a cluster of one.
TaskContext lonely_task() {
  TaskContext task;
  task.clock = &steady_clock();
  task.self.name = {"local", 0};
  task.tasks = {task.self.name};
  task.devices = {&cpu_device()};
  task.ops = &builtin_ops();
  return task;
}

GraphDef plan(const Graph& graph, RunStep step) {
  const TaskContext task = lonely_task();
  GraphDef placed = simplify_step(graph.def(), take_kind(step), task);
  place_step(placed, {{DeviceName::parse("/job:local/replica:0/task:0/device:CPU:0")}, true}, task);
  return std::move(cut_step(placed, task).at(0).graph);
}

std::size_t index_of(const Node& node) {
  return static_cast<std::size_t>(attr<std::int64_t>(node, "index"));
}

}  // namespace

PlainStep::PlainStep(const Graph& graph, const RunStep& step, Variables& variables)
    : graph_(plan(graph, step)),
      items_(graph_.nodes.size()),
      fetched_(step.fetches.size()),
      variables_(variables) {
  for (NodeId id = 0; id < graph_.size(); ++id) link(id);
}

void PlainStep::link(NodeId id) {
  const Node& node = graph_.node(id);
  Item& item = items_[static_cast<std::size_t>(id)];
  if (node.op->dispatch == Dispatch::kernel) item.kernel = builtin_ops().make(node, DeviceType::cpu);
  item.inputs.resize(node.inputs.size());
  item.consumers.resize(node.outputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Edge from = node.inputs[i];
    items_[static_cast<std::size_t>(from.node)]
        .consumers[static_cast<std::size_t>(from.output)]
        .push_back({id, i});
  }
}

std::vector<Tensor> PlainStep::run(std::span<const Tensor> feeds) {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    std::vector<Tensor> outputs = fire(id, feeds);
    Item& item = items_[static_cast<std::size_t>(id)];
    for (auto& input : item.inputs) input = {};
    pass_on(item, outputs);
  }
  return std::exchange(fetched_, std::vector<Tensor>(fetched_.size()));
}

std::vector<Tensor> PlainStep::fire(NodeId id, std::span<const Tensor> feeds) {
  const Node& node = graph_.node(id);
  Item& item = items_[static_cast<std::size_t>(id)];
  if (node.op == &arg_op()) return {feeds[index_of(node)]};
  if (node.op == &retval_op()) fetched_[index_of(node)] = item.inputs[0];
  if (node.op->dispatch == Dispatch::shard) return call_state(node, item.inputs);
  std::vector<Tensor> outputs(node.outputs.size());
  OpContext context(node, cpu_device(), item.inputs, outputs);
  if (item.kernel) item.kernel->compute(context);
  return outputs;
}

// What a parameter shard does for training with one replica.
std::vector<Tensor> PlainStep::call_state(const Node& node, std::vector<Tensor>& inputs) {
  VariableState& state = variables_[attr<std::string>(node, "variable")];
  if (node.op == &read_variable_op()) return {state.value};
  if (node.op == &assign_variable_op()) {
    state = {inputs[0], {}};
    return {};
  }
  if (node.op == &count_step_op()) {
    state.value = Tensor::scalar(state.value.scalar<std::int64_t>() + 1);
    return {state.value};
  }
  if (node.op != &apply_gradient_op())
    throw Error(Code::unimplemented, "a plain step cannot do " + std::string(node.op->name));
  const Optimizer optimizer = parse_optimizer(attr<std::string>(node, "optimizer"),
                                              attr<std::vector<double>>(node, "hyperparameters"));
  if (state.slots.empty()) make_slots(optimizer, state, cpu_device());
  apply_gradient(optimizer, state, inputs[0], cpu_device());
  return {};
}

// The last consumer gets our own handle, so that it may work in place.
void PlainStep::pass_on(const Item& item, std::vector<Tensor>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t c = 0; c < item.consumers[i].size(); ++c) {
      const Consumer& to = item.consumers[i][c];
      Tensor& input = items_[static_cast<std::size_t>(to.node)].inputs[to.input];
      input = c + 1 < item.consumers[i].size() ? outputs[i] : std::move(outputs[i]);
    }
}

Variables initialized_variables(const Graph& graph) {
  Variables variables;
  RunStep step;
  for (const Variable& variable : graph.variables())
    step.targets.push_back(variable.initializer().node().name);
  PlainStep(graph, step, variables).run({});
  return variables;
}

}  // namespace actorflow::bench

#include "kernels/eager/eager_graph.h"

#include <array>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "kernels/core/node_error.h"
#include "kernels/devices/on_device.h"
#include "kernels/eager/collected_nodes.h"
#include "kernels/eager/run_node.h"
#include "kernels/eager/variable_state.h"

namespace actorflow {
namespace {

// Says which variable a node reads that is being added, also if adding it fails.
class BeingRead {
 public:
  BeingRead(const EagerVariable*& place, const EagerVariable& variable) : place_(place) {
    place_ = &variable;
  }
  BeingRead(const BeingRead&) = delete;
  BeingRead& operator=(const BeingRead&) = delete;
  ~BeingRead() { place_ = nullptr; }

 private:
  const EagerVariable*& place_;
};

}  // namespace

const Tensor& EagerGraph::value(Edge edge) const {
  if (const Tensor* value = values_.find(edge)) return *value;
  throw Error(Code::failed_precondition,
              naming(graph_.def().node(edge.node),
                     "it has no value: it is of the body of a cond() or while_loop(), or "
                     "of a variable without initial value"));
}

Variable EagerGraph::read(const EagerVariable& variable) {
  std::uint64_t version = 0;
  {
    const std::lock_guard lock(variable.state().mutex);
    version = variable.state().version;
  }
  auto& reads = reads_[&variable.state()];
  if (!reads.empty() && reads.back().version == version) return {{&graph_, reads.back().edge}, {}};
  expect_readable(graph_, variable);
  const TensorType type = variable.type();
  const BeingRead being_read(being_read_, variable);
  const Output read = graph_.add(
      read_variable_op(), {},
      {{"variable", variables_.name_of(variable)}, {"dtype", type.dtype}, {"shape", type.shape}},
      variable.name());
  reads.push_back({version, read.edge});
  return {read, {}};
}

void EagerGraph::assign(const EagerVariable& variable, const Output& output) {
  expect_in_graph(graph_, output, "the value for eager variable '" + variable.name() + "'");
  expect_assignable(graph_, variable);
  variable.assign(value(output.edge));
}

std::vector<Output> EagerGraph::reads_of(const EagerVariable& variable) {
  std::vector<Output> outputs;
  if (const auto found = reads_.find(&variable.state()); found != reads_.end())
    for (const Read& read : found->second) outputs.push_back({&graph_, read.edge});
  return outputs;
}

EagerVariable EagerGraph::variable(const std::string& name) const {
  if (const EagerVariable* known = variables_.find(name)) return *known;
  throw Error(Code::not_found, "this tape has not seen a variable '" + name + "'");
}

std::vector<Tensor> EagerGraph::compute_collected(const std::vector<Edge>& wanted) {
  return CollectedNodes(context_, graph_.def(), values_).compute(wanted);
}

void EagerGraph::adds(NodeId id, Node& node) {
  context_.expect_here(node);
  try {
    compute(id, node, values_.open(id, node.outputs.size()));
  } catch (...) {
    values_.open(id, 0);  // the graph does not take the node, and the next one may have its number
    throw;
  }
}

void EagerGraph::compute(NodeId id, Node& node, std::span<Tensor> outputs) {
  if (node.op == &const_op())
    outputs[0] = constant_of(context_, node);
  else if (node.op == &read_variable_op())
    read_variable(id, node, outputs);
  else if (node.op == &assign_variable_op())
    assign_named(node);
  else if (node.op == &assign_add_variable_op())
    outputs[0] = sum_with_delta(node);
  else
    run(node, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].valid()) node.outputs[i].shape = outputs[i].shape();
}

void EagerGraph::run(const Node& node, std::span<Tensor> outputs) {
  expect_kernel(node);
  inputs_.clear();
  for (const Edge input : node.inputs) inputs_.push_back(value(input));
  run_node(context_, node, inputs_, outputs);
  inputs_.clear();
}

// A variable that the graph makes gets its value later, from the node of its initializer.
void EagerGraph::read_variable(NodeId id, const Node& node, std::span<Tensor> outputs) {
  if (being_read_) {
    outputs[0] = on_device(being_read_->read(), context_.device());
    return;
  }
  const auto& name = attr<std::string>(node, "variable");
  if (variables_.find(name))
    throw Error(Code::already_exists,
                naming(node, "the tape has a variable '" + name + "' already; give one another name"));
  without_value_[name] = id;
}

void EagerGraph::assign_named(const Node& node) {
  const auto& name = attr<std::string>(node, "variable");
  const Tensor assigned = value(node.inputs[0]);
  if (const EagerVariable* known = variables_.find(name)) return known->assign(assigned);
  const auto waiting = without_value_.find(name);
  if (waiting == without_value_.end())
    throw Error(Code::not_found, naming(node, "there is no variable '" + name + "' to assign to"));
  const EagerVariable made(name, assigned);
  variables_.name_of(made);
  values_.set({waiting->second, 0}, assigned);
  reads_[&made.state()].push_back({0, {waiting->second, 0}});
  without_value_.erase(waiting);
}

// The lock is held over the sum, so that of several threads' sums none is lost.
Tensor EagerGraph::sum_with_delta(const Node& node) {
  const EagerVariable known = variable(attr<std::string>(node, "variable"));
  Node sum;
  sum.name = node.name;
  sum.op = &add_n_op();
  sum.outputs = {known.type()};
  EagerVariable::State& state = known.state();
  const std::lock_guard lock(state.mutex);
  std::array inputs{on_device(state.value, context_.device()), value(node.inputs[0])};
  std::array<Tensor, 1> outputs;
  run_node(context_, sum, inputs, outputs);
  known.expect_value(outputs[0]);
  state.value = outputs[0];
  ++state.version;
  return outputs[0];
}

}  // namespace actorflow

#include "actors/core/executable.h"

#include <algorithm>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/subgraph.h"
#include "dataflow/ops/collective_ops.h"
#include "kernels/core/region.h"

namespace actorflow {
namespace {

Device& find_device(const Node& node, const TaskContext& task) {
  const DeviceName name = DeviceName::parse(node.device);
  const DeviceType type = name.type == "GPU" ? DeviceType::cuda : DeviceType::cpu;
  for (Device* device : task.devices)
    if (device->type() == type && device->index() == name.index.value_or(0)) return *device;
  throw invalid_argument("node '" + node.name + "': task " + task.self.name.to_string() +
                         " has no device '" + node.device + "'");
}

bool is_transfer(const Node& node) { return node.op == &send_op() || node.op == &recv_op(); }
// A grouped reduction does not: it puts its tensors together first. A barrier and a join have none.
bool sends_its_input(const Node& node) {
  if (node.inputs.empty()) return false;
  const bool is_grouped =
      (node.op == &all_reduce_op() || node.op == &grouped_reduce_scatter_op()) && node.inputs.size() > 1;
  return node.op == &send_op() || (std::ranges::count(collective_ops(), node.op) > 0 && !is_grouped);
}
bool is_argument(const Node& node) { return node.op == &arg_op() || node.op == &retval_op(); }

}  // namespace

bool may_be_captured(const Node& node) {
  return DeviceName::parse(node.device).type == "GPU" && runs_without_the_host(node) &&
         builtin_ops().registry().find(node.op->name) == node.op;
}

Executable::Executable(std::uint64_t handle, GraphDef graph, const TaskContext& task,
                       const MayJoin& may_join)
    : Executable(handle, may_join ? form_regions(graph, may_join) : GraphOfRegions{std::move(graph), {}},
                 task) {}

Executable::Executable(std::uint64_t handle, GraphOfRegions graph, const TaskContext& task)
    : handle_(handle),
      graph_(std::move(graph.graph)),
      team_(task.team),
      clock_(task.clock),
      nodes_(graph_.nodes.size()),
      costs_(std::make_unique<NodeCost[]>(graph_.nodes.size())) {
  for (NodeId id = 0; id < graph_.size(); ++id) compile_node(id, graph.regions, task);
  send_in_place(task);
  link_consumers();
  link_controls();
}

// Lets nodes whose output is sent compute into memory that the network need not copy.
void Executable::send_in_place(const TaskContext& task) {
  for (const auto& item : nodes_) {
    if (!sends_its_input(*item.node)) continue;
    ExecutableNode& producer = nodes_[static_cast<std::size_t>(item.node->inputs[0].node)];
    if (producer.kernel && producer.device == &cpu_device()) producer.device = task.sending_device;
  }
}

// False with a GPU or a loop: the time that they took before says nothing of the next time.
bool Executable::computes_within(std::chrono::nanoseconds limit) const {
  std::int64_t left = limit.count();
  for (NodeId id = 0; id < size(); ++id) {
    const ExecutableNode& item = node(id);
    if (item.device->type() != DeviceType::cpu) return false;
    if (!item.kernel) continue;
    const std::int64_t ns = cost(id).ns();
    if (ns == 0 || (left -= ns) < 0 || has_subgraph(item.node->attrs)) return false;
  }
  return true;
}

bool Executable::sends_to(TaskId task) const {
  return std::ranges::any_of(nodes_, [task](const ExecutableNode& node) {
    return node.node->op == &send_op() && node.peer == task;
  });
}

void Executable::compile_node(NodeId id, const std::vector<Region>& regions, const TaskContext& task) {
  const Node& node = graph_.node(id);
  ExecutableNode& item = nodes_[static_cast<std::size_t>(id)];
  item.node = &node;
  item.dispatch = node.op->dispatch;
  item.device = &find_device(node, task);
  if (node.op == &region_op())
    item.kernel = make_region(regions.at(static_cast<std::size_t>(attr<std::int64_t>(node, "region"))),
                              *task.ops, item.device->type());
  else if (item.dispatch == Dispatch::kernel && node.op != &no_op())
    item.kernel = task.ops->make(node, item.device->type());
  if (is_transfer(node)) {
    item.slot = attr<std::int64_t>(node, "channel");
    item.peer = task.id_of(TaskName::parse(attr<std::string>(node, "peer")));
  } else if (is_argument(node))
    item.slot = attr<std::int64_t>(node, "index");
  if (node.attrs.contains("optimizer"))
    optimizers_.emplace(
        id, BoundOptimizer(parse_optimizer(attr<std::string>(node, "optimizer"),
                                           attr<std::vector<double>>(node, "hyperparameters")),
                           *task.optimizers));
  item.first_input = num_inputs_;
  item.num_inputs = static_cast<std::int32_t>(node.inputs.size());
  item.first_output = num_outputs_;
  item.num_outputs = static_cast<std::int32_t>(node.outputs.size());
  num_inputs_ += item.num_inputs;
  num_outputs_ += item.num_outputs;
  pending_.push_back(static_cast<std::int32_t>(node.inputs.size() + node.controls.size()));
  if (pending_.back() == 0) sources_.push_back(id);
}

void Executable::link_consumers() {
  const auto output_of = [this](Edge edge) {
    return static_cast<std::size_t>(node(edge.node).first_output + edge.output);
  };
  std::vector<std::vector<Consumer>> by_output(static_cast<std::size_t>(num_outputs_));
  for (NodeId id = 0; id < graph_.size(); ++id)
    for (int i = 0; i < node(id).num_inputs; ++i)
      by_output[output_of(graph_.node(id).inputs[static_cast<std::size_t>(i)])].push_back(
          {id, node(id).first_input + i});
  first_consumer_.push_back(0);
  for (const auto& consumers : by_output) {
    consumers_.insert(consumers_.end(), consumers.begin(), consumers.end());
    first_consumer_.push_back(static_cast<std::int32_t>(consumers_.size()));
  }
}

void Executable::link_controls() {
  std::vector<std::vector<NodeId>> by_node(nodes_.size());
  for (NodeId id = 0; id < graph_.size(); ++id)
    for (NodeId before : graph_.node(id).controls)
      by_node[static_cast<std::size_t>(before)].push_back(id);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].first_control = static_cast<std::int32_t>(controls_.size());
    nodes_[i].num_controls = static_cast<std::int32_t>(by_node[i].size());
    controls_.insert(controls_.end(), by_node[i].begin(), by_node[i].end());
  }
}

std::span<const Consumer> Executable::consumers(const ExecutableNode& node, int output) const {
  const auto index = static_cast<std::size_t>(node.first_output + output);
  const auto begin = first_consumer_[index], end = first_consumer_[index + 1];
  return std::span(consumers_)
      .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

}  // namespace actorflow

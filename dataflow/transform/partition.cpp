#include "dataflow/transform/partition.h"

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/unique_names.h"
#include "dataflow/values/check.h"

namespace actorflow {
namespace {

class Partitioner {
 public:
  explicit Partitioner(const GraphDef& placed) : placed_(placed), names_(placed) {}

  // In the order of the whole graph, so that every part is in topological order too: a Send is appended
  // after the node whose tensor it takes, a Recv before its first consumer.
  std::map<TaskName, GraphDef> run() {
    for (const auto& node : placed_.nodes) tasks_.push_back(TaskName::parse(node.device));
    for (NodeId id = 0; id < placed_.size(); ++id) {
      Node node = placed_.node(id);
      const auto& task = task_of(id);
      for (auto& input : node.inputs) input = local_input(input, task);
      for (auto& control : node.controls) control = local_control(control, task);
      local_ids_.push_back(append(task, std::move(node)));
    }
    return std::move(parts_);
  }

 private:
  const TaskName& task_of(NodeId id) const { return tasks_[static_cast<std::size_t>(id)]; }
  NodeId local_id(NodeId id) const { return local_ids_[static_cast<std::size_t>(id)]; }

  Edge local_input(Edge edge, const TaskName& to) {
    if (task_of(edge.node) == to) return {local_id(edge.node), edge.output};
    const auto [entry, fresh] = received_.try_emplace({edge, to});
    if (fresh) entry->second = transfer(edge.node, {local_id(edge.node), edge.output}, to);
    return {entry->second, 0};
  }

  NodeId local_control(NodeId id, const TaskName& to) {
    if (task_of(id) == to) return local_id(id);
    const auto [entry, fresh] = signalled_.try_emplace({id, to});
    if (fresh) entry->second = transfer(id, {append(task_of(id), signal_after(id)), 0}, to);
    return entry->second;
  }

  // Sends `edge`, which is local to the task of `source`, and returns the Recv of `to`.
  NodeId transfer(NodeId source, Edge edge, const TaskName& to) {
    const TaskName& from = task_of(source);
    const std::string base = placed_.node(source).name;
    const auto channel = std::int64_t{next_channel_++};
    ACTORFLOW_CHECK(static_cast<std::size_t>(edge.output) < parts_[from].node(edge.node).outputs.size(),
                    base, "has no type of output", edge.output);
    const auto& type = parts_[from].type(edge);
    Node recv = added(base + "/recv", recv_op(), to);
    recv.attrs = {
        {"channel", channel}, {"peer", from.to_string()}, {"dtype", type.dtype}, {"shape", type.shape}};
    Node send = added(base + "/send", send_op(), from);
    send.inputs = {edge};
    send.attrs = {{"channel", channel}, {"peer", to.to_string()}};
    append(from, std::move(send));
    return append(to, std::move(recv));
  }

  Node signal_after(NodeId id) {
    Node signal = added(placed_.node(id).name + "/done", const_op(), task_of(id));
    signal.controls = {local_id(id)};
    signal.attrs = {{"value", Tensor::scalar(std::uint8_t{0})}};
    return signal;
  }

  Node added(const std::string& name, const OpDef& op, const TaskName& task) {
    Node node;
    node.name = names_.take(name);
    node.op = &op;
    node.device = DeviceName{task.job, 0, task.index, "CPU", 0}.to_string();
    return node;
  }

  NodeId append(const TaskName& task, Node node) {
    GraphDef& part = parts_[task];
    infer_node(node, input_types(part, node));
    part.nodes.push_back(std::move(node));
    return part.size() - 1;
  }

  const GraphDef& placed_;
  UniqueNames names_;
  std::vector<TaskName> tasks_;    // of each node
  std::vector<NodeId> local_ids_;  // of each node, in the part of its task
  std::map<TaskName, GraphDef> parts_;
  std::map<std::pair<Edge, TaskName>, NodeId> received_;     // the Recv of a tensor in a task
  std::map<std::pair<NodeId, TaskName>, NodeId> signalled_;  // the Recv of a node's end in a task
  std::uint32_t next_channel_ = 0;
};

}  // namespace

std::map<TaskName, GraphDef> partition(const GraphDef& placed) { return Partitioner(placed).run(); }

}  // namespace actorflow

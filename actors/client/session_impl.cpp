#include "actors/client/session_impl.h"

#include <utility>

#include "dataflow/graph/state_ops.h"

namespace actorflow {
namespace {

// A node for the master only: the program's graph does not get one.
Node probe_of(const Variable& variable) {
  Node probe;
  probe.name = probe_name(variable);
  probe.op = &is_initialized_op();
  probe.attrs = {{"variable", variable.name()}};
  probe.device = variable.device();
  infer_node(probe, {});
  return probe;
}

}  // namespace

std::string probe_name(const Variable& variable) { return "_session/is_initialized/" + variable.name(); }

void Session::Impl::create(SessionOptions options) {
  const MasterReply reply = call(CreateSession{graph.def(), std::move(options)});
  handle = reply.session;
  version = reply.graph_version;
  size = graph.def().size();
  for (NodeId id = 0; id < size; ++id) positions.push_back(id);
  sent = size;
}

MasterReply Session::Impl::call(MasterRequest request, RunMetadata* metadata) const {
  MasterReply reply = connection.call(std::move(request));
  if (metadata) metadata->trace = std::move(reply.trace);
  throw_if_error(reply.status);
  return reply;
}

void Session::Impl::check_open() const {
  if (closed) throw Error(Code::cancelled, "Session::Close: this session has been closed");
}

void Session::Impl::extend() {
  check_open();
  if (graph.def().size() == sent) return;
  const std::lock_guard lock(mutex);
  std::vector<Node> nodes;
  std::vector<NodeId> extended = positions;
  for (NodeId id = sent; id < graph.def().size(); ++id) {
    Node node = graph.def().node(id);
    for (auto& input : node.inputs) input.node = extended[static_cast<std::size_t>(input.node)];
    for (auto& control : node.controls) control = extended[static_cast<std::size_t>(control)];
    extended.push_back(size + static_cast<NodeId>(nodes.size()));
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) return;  // another thread has sent them
  send(std::move(nodes));
  positions = std::move(extended);
  sent = static_cast<NodeId>(positions.size());
}

void Session::Impl::send_probes() {
  const std::lock_guard lock(mutex);
  std::vector<Node> nodes;
  for (auto i = probes; i < graph.variables().size(); ++i)
    nodes.push_back(probe_of(graph.variables()[i]));
  if (nodes.empty()) return;
  const auto count = nodes.size();
  send(std::move(nodes));
  probes += count;
}

void Session::Impl::send(std::vector<Node> nodes) {
  const auto count = static_cast<NodeId>(nodes.size());
  version = call(ExtendSession{handle, std::move(nodes), version}).graph_version;
  size += count;
}

std::string Session::Impl::name_of(const Output& output, const std::string& what) const {
  expect_in_graph(graph, output, what);
  return output.name() + ":" + std::to_string(output.edge.output);
}

std::vector<std::string> Session::Impl::names_of(const std::vector<Output>& outputs,
                                                 const std::string& what) const {
  std::vector<std::string> names;
  for (const auto& output : outputs)
    names.push_back(name_of(output, what + " " + std::to_string(names.size()) + " of the session"));
  return names;
}

std::vector<std::string> Session::Impl::targets_of(const std::vector<Output>& outputs) const {
  std::vector<std::string> names;
  for (const auto& output : outputs) {
    expect_in_graph(graph, output, "target " + std::to_string(names.size()) + " of the session");
    names.push_back(output.name());
  }
  return names;
}

}  // namespace actorflow

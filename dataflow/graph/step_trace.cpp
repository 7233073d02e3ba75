#include "dataflow/graph/step_trace.h"

#include <algorithm>
#include <map>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/chrome_trace.h"
#include "dataflow/graph/core_ops.h"

namespace actorflow {
namespace {

std::string task_of(const NodeTrace& node) { return TaskName::parse(node.device).to_string(); }

// The name of a device within its task: "CPU:0".
std::string device_of(const NodeTrace& node) {
  const auto name = DeviceName::parse(node.device);
  return name.type.value_or("CPU") + ":" + std::to_string(name.index.value_or(0));
}

void draw(const NodeTrace& node, ChromeTrace& picture) {
  const auto place = picture.add({task_of(node), device_of(node), node.start_us, node.end_us, node.node,
                                  node.op,
                                  "{\"op\":" + quoted_json(node.op) +
                                      ",\"bytes_out\":" + std::to_string(node.bytes_out) + "}"});
  const std::string id = std::to_string(node.channel);
  if (node.op == send_op().name) picture.arrow_from(place, node.end_us, "transfer", id);
  if (node.op == recv_op().name) picture.arrow_to(place, node.end_us, "transfer", id);
}

}  // namespace

std::vector<TransferTrace> transfers(const StepTrace& trace) {
  std::map<std::int64_t, const NodeTrace*> sends;
  for (const auto& node : trace.nodes)
    if (node.op == send_op().name) sends[node.channel] = &node;
  std::vector<TransferTrace> found;
  for (const auto& node : trace.nodes) {
    if (node.op != recv_op().name) continue;
    const auto send = sends.find(node.channel);
    if (send == sends.end()) continue;
    found.push_back({node.peer, task_of(node), node.node, send->second->bytes_out, send->second->end_us,
                     node.end_us});
  }
  std::ranges::stable_sort(found, {}, &TransferTrace::sent_us);
  return found;
}

std::string to_chrome_trace(const StepTrace& trace) {
  std::vector<const NodeTrace*> order;
  for (const auto& node : trace.nodes) order.push_back(&node);
  std::ranges::stable_sort(order, {}, &NodeTrace::start_us);
  ChromeTrace picture;
  for (const auto* node : order) draw(*node, picture);
  return picture.json();
}

}  // namespace actorflow

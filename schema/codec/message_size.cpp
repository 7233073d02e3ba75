#include "schema/codec/message_size.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "dataflow/graph/subgraph.h"
#include "schema/codec/message_codec.h"

namespace actorflow {
namespace {

// The bytes of the message's text as write_status() writes it, apart from a note that it was cut.
std::size_t text_bytes(const Status& status) { return std::min(status.message.size(), max_text_bytes); }

std::size_t estimated_bytes(const std::vector<Slot>& slots) {
  std::size_t bytes = 0;
  for (const auto& slot : slots) bytes += 64 + slot.second.size_bytes();
  return bytes;
}

std::size_t estimated_bytes(const GraphDef& graph);

// The estimated bytes of an attribute, beyond what every node takes.
struct AttrBytes {
  std::size_t operator()(const Tensor& value) const { return value.size_bytes(); }
  std::size_t operator()(const std::string& value) const { return value.size(); }
  std::size_t operator()(const SubgraphRef& value) const {
    return value ? estimated_bytes(value->body) : 0;
  }
  template <class T>
  std::size_t operator()(const std::vector<T>& value) const {
    return value.size() * sizeof(T);
  }
  template <class T>
  std::size_t operator()(const T&) const {
    return 0;
  }
};

std::size_t estimated_bytes(const GraphDef& graph) {
  std::size_t bytes = 0;
  for (const auto& node : graph.nodes) {
    bytes += 512 + node.name.size() + node.device.size() + node.inputs.size() * sizeof(Edge) +
             node.controls.size() * sizeof(NodeId);
    for (const auto& attr : node.attrs) bytes += std::visit(AttrBytes(), attr.second);
  }
  return bytes;
}

}  // namespace

std::size_t estimated_bytes(const Message& message) {
  constexpr std::size_t small = 128;
  if (const auto* run = std::get_if<RunGraph>(&message)) return small + estimated_bytes(run->args);
  if (const auto* done = std::get_if<StepDone>(&message))
    return small + text_bytes(done->status) + estimated_bytes(done->retvals) +
           256 * done->trace.nodes.size();
  if (const auto* delivery = std::get_if<TensorDelivery>(&message))
    return small + delivery->tensor.size_bytes();
  if (const auto* graph = std::get_if<RegisterGraph>(&message)) return estimated_bytes(graph->graph);
  if (const auto* registered = std::get_if<GraphRegistered>(&message))
    return small + text_bytes(registered->status);
  if (const auto* said = std::get_if<ActorMessage>(&message))
    return small + said->to.size() + said->from.size() + said->type.size() + text_bytes(said->status) +
           said->content.size_bytes() + said->payload.size_bytes();
  if (const auto* abort = std::get_if<AbortStep>(&message)) return small + text_bytes(abort->reason);
  if (const auto* lost = std::get_if<Undelivered>(&message)) return small + text_bytes(lost->reason);
  if (const auto* over = std::get_if<Shutdown>(&message)) return small + over->reason.size();
  return small;
}

}  // namespace actorflow

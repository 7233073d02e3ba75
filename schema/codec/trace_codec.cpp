#include "schema/codec/trace_codec.h"

#include "dataflow/values/check.h"
#include "schema/codec/text.h"

namespace actorflow {

void write_devices(const std::vector<DeviceInfo>& devices, capnp::List<wire::Device>::Builder to) {
  ACTORFLOW_CHECK(to.size() == devices.size(), to.size(), "places for", devices.size());
  for (unsigned i = 0; i < to.size(); ++i) {
    to[i].setName(to_text(devices[i].name));
    to[i].setType(to_text(devices[i].type));
    to[i].setMemoryBytes(devices[i].memory_bytes);
    to[i].setIncarnation(devices[i].incarnation);
  }
}

std::vector<DeviceInfo> read_devices(capnp::List<wire::Device>::Reader from) {
  std::vector<DeviceInfo> devices;
  devices.reserve(from.size());
  for (const auto device : from)
    devices.push_back({to_string(device.getName()), to_string(device.getType()), device.getMemoryBytes(),
                       device.getIncarnation()});
  return devices;
}

void write_node_traces(const std::vector<NodeTrace>& nodes, capnp::List<wire::NodeTrace>::Builder to) {
  ACTORFLOW_CHECK(to.size() == nodes.size(), to.size(), "places for", nodes.size());
  for (unsigned i = 0; i < to.size(); ++i) {
    const NodeTrace& node = nodes[i];
    to[i].setNode(to_text(node.node));
    to[i].setOp(to_text(node.op));
    to[i].setDevice(to_text(node.device));
    to[i].setStartUs(node.start_us);
    to[i].setEndUs(node.end_us);
    to[i].setBytesOut(node.bytes_out);
    to[i].setPeer(to_text(node.peer));
    to[i].setChannel(node.channel);
  }
}

std::vector<NodeTrace> read_node_traces(capnp::List<wire::NodeTrace>::Reader from) {
  std::vector<NodeTrace> nodes;
  nodes.reserve(from.size());
  for (const auto node : from)
    nodes.push_back({to_string(node.getNode()), to_string(node.getOp()), to_string(node.getDevice()),
                     node.getStartUs(), node.getEndUs(), node.getBytesOut(), to_string(node.getPeer()),
                     node.getChannel()});
  return nodes;
}

}  // namespace actorflow

// Between Cap'n Proto and the devices and traces of steps of both protocols. Internal to schema/:
// includes Cap'n Proto.
#pragma once

#include <vector>

#include "schema/master.capnp.h"
#include "schema/message.h"

namespace actorflow {

// REQUIRES: `to` has as many elements.
void write_devices(const std::vector<DeviceInfo>& devices, capnp::List<wire::Device>::Builder to);
std::vector<DeviceInfo> read_devices(capnp::List<wire::Device>::Reader from);
void write_node_traces(const std::vector<NodeTrace>& nodes, capnp::List<wire::NodeTrace>::Builder to);
std::vector<NodeTrace> read_node_traces(capnp::List<wire::NodeTrace>::Reader from);

}  // namespace actorflow

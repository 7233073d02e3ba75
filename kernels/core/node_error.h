// How an error says of which node it is.
#pragma once

#include <string>

#include "dataflow/graph/op.h"

namespace actorflow {

// "node 'x' (MatMul): message", or the message as it is if it names the node already.
inline std::string naming(const Node& node, const std::string& message) {
  const std::string name = "node '" + node.name + "'";
  if (message.find(name) != std::string::npos) return message;
  return name + " (" + std::string(node.op->name) + "): " + message;
}

}  // namespace actorflow

// The naming of nodes in errors.
#pragma once

#include <string>

#include "dataflow/graph/op.h"

namespace actorflow {

// The message as "node 'x' (MatMul): message", or unchanged if it names the node already.
inline std::string naming(const Node& node, const std::string& message) {
  const std::string name = "node '" + node.name + "'";
  if (message.find(name) != std::string::npos) return message;
  return name + " (" + std::string(node.op->name) + "): " + message;
}

}  // namespace actorflow

// Names for the nodes that a transformation adds to a graph.
#pragma once

#include <string>
#include <unordered_set>

#include "dataflow/graph/graph.h"

namespace actorflow {

class UniqueNames {
 public:
  explicit UniqueNames(const GraphDef& graph) {
    for (const auto& node : graph.nodes) taken_.insert(node.name);
  }

  // The name `wanted`, with a suffix if a node has it already.
  std::string take(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace actorflow

// The tensors that the nodes of an eager graph have computed.
#pragma once

#include <span>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// By node, in order. Nodes that were never opened have none.
class EagerValues {
 public:
  // The places of a node's outputs, empty tensors at first; valid until the next call. What a node of
  // this or of a later number had is dropped: the graph did not take it.
  std::span<Tensor> open(NodeId node, std::size_t outputs);

  // Gives an output its tensor later. REQUIRES: its node was opened.
  void set(Edge edge, const Tensor& tensor);

  // Null if the node was not opened, or has not computed it.
  const Tensor* find(Edge edge) const;

 private:
  std::size_t end_of(std::size_t node) const {
    return node + 1 < first_.size() ? first_[node + 1] : tensors_.size();
  }

  std::vector<std::size_t> first_;  // by node: the place of its first output
  std::vector<Tensor> tensors_;
};

}  // namespace actorflow

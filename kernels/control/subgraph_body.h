// The subgraphs of a node as something to run.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dataflow/graph/subgraph.h"
#include "kernels/core/region.h"

namespace actorflow {

// A subgraph of a node with its kernels. Thread-safe. REQUIRES: the node's shape function has checked
// it, by expect_subgraph().
class SubgraphBody {
 public:
  SubgraphBody(const Node& node, std::string_view attribute, const OpLibrary& ops, DeviceType device)
      : body_(*attr<SubgraphRef>(node, attribute), ops, device) {}

  int inputs() const { return body_.inputs(); }
  std::vector<Tensor> run(std::span<const Tensor> inputs, const OpContext& c) const {
    return body_.run(inputs, c.device(), c.team(), c.interruption());
  }
  // The result of a subgraph that gives one bool scalar.
  bool holds(std::span<const Tensor> inputs, const OpContext& c) const {
    return c.device().to_host(run(inputs, c)[0]).scalar<bool>();
  }

 private:
  RegionBody body_;
};

// The types of a node's inputs from number `first` on, and of its outputs.
std::vector<TensorType> types_of_inputs(const InferContext& c, int first = 0);
std::vector<Tensor> inputs_of(const OpContext& c, int first = 0);
void set_outputs(OpContext& c, std::vector<Tensor> outputs);

// The KernelMakerWithBodies of a class.
template <class K>
std::unique_ptr<Kernel> with_bodies(const Node& node, const OpLibrary& ops, DeviceType device) {
  return std::make_unique<K>(node, ops, device);
}

}  // namespace actorflow

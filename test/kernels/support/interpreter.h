// Runs a graph without actors, node after node on one device, for the tests of kernels.
#pragma once

#include <map>
#include <vector>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/graph.h"
#include "kernels/core/kernel.h"

namespace actorflow::test {

// The outputs of one kernel for inputs on `device`.
inline std::vector<Tensor> run_kernel(const Node& node, std::vector<Tensor> inputs, Device& device,
                                      Team* team = nullptr) {
  std::vector<Tensor> outputs(node.outputs.size());
  OpContext context(node, device, inputs, outputs, team);
  builtin_ops().make(node, device.type())->compute(context);
  return outputs;
}

using Feeds = std::map<NodeId, Tensor>;

// The fetched tensors, on the host. Every placeholder that is there must be fed a host tensor.
inline std::vector<Tensor> interpret(const GraphDef& graph, const Feeds& feeds,
                                     const std::vector<Output>& fetches, Device& device = cpu_device(),
                                     Team* team = nullptr) {
  std::vector<std::vector<Tensor>> results;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.op == &placeholder_op()) {
      results.push_back({device.to_device(feeds.at(id))});
      continue;
    }
    std::vector<Tensor> inputs;
    for (const Edge& edge : node.inputs)
      inputs.push_back(
          results[static_cast<std::size_t>(edge.node)][static_cast<std::size_t>(edge.output)]);
    results.push_back(run_kernel(node, std::move(inputs), device, team));
  }
  std::vector<Tensor> fetched;
  for (const Output& fetch : fetches)
    fetched.push_back(device.to_host(results[static_cast<std::size_t>(fetch.edge.node)]
                                            [static_cast<std::size_t>(fetch.edge.output)]));
  return fetched;
}

// The value of an output of a graph without placeholders.
inline Tensor value_of(Output output) { return interpret(output.graph->def(), {}, {output}).front(); }

}  // namespace actorflow::test

// A step as a plain loop over its kernels, on the calling thread: a step without actors, messages and
// sessions.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/graph.h"
#include "kernels/core/kernel.h"
#include "kernels/update/optimizer_update.h"
#include "schema/master.h"

namespace actorflow::bench {

using Variables = std::map<std::string, VariableState, std::less<>>;

// One kind of step, planned as a session in one process plans it. Not thread-safe.
class PlainStep {
 public:
  // Feeds, fetches and targets as those of `step`. The variables must outlive this object and have
  // values when the step runs, except those that it assigns.
  PlainStep(const Graph& graph, const RunStep& step, Variables& variables);

  // The fetched tensors, for one tensor per feed in the order of the step's.
  std::vector<Tensor> run(std::span<const Tensor> feeds);

 private:
  // A consumer of an output: an input of a later node, or a fetch.
  struct Consumer {
    NodeId node;
    std::size_t input;
  };
  struct Item {
    std::unique_ptr<Kernel> kernel;  // null: done by actors elsewhere
    std::vector<Tensor> inputs;
    std::vector<std::vector<Consumer>> consumers;  // by output
  };

  void link(NodeId id);
  // Returns the outputs.
  std::vector<Tensor> fire(NodeId id, std::span<const Tensor> feeds);
  std::vector<Tensor> call_state(const Node& node, std::vector<Tensor>& inputs);
  void pass_on(const Item& item, std::vector<Tensor>& outputs);

  GraphDef graph_;
  std::vector<Item> items_;
  std::vector<Tensor> fetched_;
  Variables& variables_;
};

// Runs the initializers of the graph's variables.
Variables initialized_variables(const Graph& graph);

}  // namespace actorflow::bench

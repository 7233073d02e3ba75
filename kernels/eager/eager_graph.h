// A graph whose nodes run as they are added. So ops, operators, composite functions, layers and a
// program's own ops are the same ones as in graphs for sessions, and so are gradients of any order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/eager/eager_context.h"
#include "kernels/eager/eager_values.h"
#include "kernels/eager/variable_scope.h"

namespace actorflow {

// Used by one thread.
class EagerGraph final : public GraphObserver, public VariableScope {
 public:
  explicit EagerGraph(EagerContext& context) : context_(context) { graph_.set_observer(this); }

  Graph& graph() { return graph_; }
  // The eager graph that this one belongs to; null for a graph of another kind.
  static EagerGraph* of(const Graph& graph) { return dynamic_cast<EagerGraph*>(graph.observer()); }

  // Throws failed_precondition for an output that has not been computed.
  const Tensor& value(Edge edge) const;
  Tensor on_host(Edge edge) const { return context_.device().to_host(value(edge)); }

  EagerContext& context() const override { return context_; }
  // One node for each value that the variable has had here.
  Variable read(const EagerVariable& variable) override;
  void assign(const EagerVariable& variable, const Output& value) override;
  // What read() has returned for the variable.
  std::vector<Output> reads_of(const EagerVariable& variable);
  // That of a variable of the graph (Graph::variable). Throws not_found if there is none.
  EagerVariable variable(const std::string& name) const;

  // Computes tensors of nodes that a Graph::Tail has collected, and drops what it has computed on the
  // way: what no wanted tensor needs is not computed at all.
  std::vector<Tensor> compute_collected(const std::vector<Edge>& wanted);

  void adds(NodeId id, Node& node) override;

 private:
  struct Read {
    std::uint64_t version;
    Edge edge;
  };

  void compute(NodeId id, Node& node, std::span<Tensor> outputs);
  void run(const Node& node, std::span<Tensor> outputs);
  void read_variable(NodeId id, const Node& node, std::span<Tensor> outputs);
  void assign_named(const Node& node);
  Tensor sum_with_delta(const Node& node);

  EagerContext& context_;
  Graph graph_;
  EagerValues values_;
  std::vector<Tensor> inputs_;  // of the node that runs
  NamedVariables variables_;
  const EagerVariable* being_read_ = nullptr;
  std::map<const EagerVariable::State*, std::vector<Read>> reads_;
  // Variables of the graph whose first value is still to come, and the nodes that read them.
  std::map<std::string, NodeId> without_value_;
};

}  // namespace actorflow

// What a function adds to a graph while it is traced: which variables it reads and assigns.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/eager/variable_scope.h"

namespace actorflow {

// Used by one thread.
class Tracing final : public GraphObserver, public VariableScope {
 public:
  struct Captured {
    EagerVariable variable;
    Variable in_graph;  // with the value that was read, or last assigned
    Output at_start = in_graph.value();
    std::vector<Output> added{};
    std::vector<Output> updates{};  // the nodes that change it, from the last assignment on
    bool changes() const { return !updates.empty(); }
  };

  // `what` is the function's name in errors. REQUIRES: the graph and the context outlive this.
  Tracing(Graph& graph, EagerContext& context, std::string what);
  ~Tracing() override { graph_.set_observer(nullptr); }

  // In the order in which the function came to them. Call when the function has returned.
  std::vector<Captured> take();

  EagerContext& context() const override { return context_; }
  Variable read(const EagerVariable& variable) override { return settled(capture(variable)); }
  void assign(const EagerVariable& variable, const Output& value) override;
  // Notes changes by nodes, as layers make them. Throws unimplemented for what needs a session.
  void adds(NodeId id, Node& node) override;

 private:
  Captured& capture(const EagerVariable& variable);
  Variable settled(Captured& captured);
  Captured& captured_as(const Node& node);
  [[noreturn]] void refuse(const Node& node, const std::string& why) const;

  Graph& graph_;
  EagerContext& context_;
  const std::string what_;
  NamedVariables names_;
  std::vector<Captured> captured_;
};

}  // namespace actorflow

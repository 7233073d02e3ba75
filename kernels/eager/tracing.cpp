#include "kernels/eager/tracing.h"

#include <algorithm>
#include <utility>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "kernels/core/node_error.h"
#include "kernels/eager/run_node.h"

namespace actorflow {
namespace {

// Keeps the observer of a graph away for its life: the nodes of a variable are none of the function's.
class Unobserved {
 public:
  explicit Unobserved(Graph& graph) : graph_(graph), observer_(graph.observer()) {
    graph_.set_observer(nullptr);
  }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;
  ~Unobserved() { graph_.set_observer(observer_); }

 private:
  Graph& graph_;
  GraphObserver* const observer_;
};

}  // namespace

Tracing::Tracing(Graph& graph, EagerContext& context, std::string what)
    : graph_(graph), context_(context), what_(std::move(what)) {
  graph_.set_observer(this);
}

Tracing::Captured& Tracing::capture(const EagerVariable& variable) {
  const auto known = std::ranges::find_if(
      captured_, [&](const Captured& captured) { return captured.variable.is(variable); });
  if (known != captured_.end()) return *known;
  expect_readable(graph_, variable);
  const Unobserved unobserved(graph_);
  return captured_.emplace_back(variable, graph_.unscoped([&] {
    return graph_.variable(names_.name_of(variable), graph_.constant(variable.read()));
  }));
}

void Tracing::assign(const EagerVariable& variable, const Output& value) {
  expect_assignable(graph_, variable);
  const Captured& captured = capture(variable);
  expect_in_graph(graph_, value, "the value for eager variable '" + variable.name() + "'");
  graph_.assign(captured.in_graph, value);  // comes back to adds()
}

void Tracing::adds(NodeId id, Node& node) {
  if (node.op == &placeholder_op()) return;
  if (node.op == &read_variable_op())
    refuse(node, "a variable is made inside; make it before, as an EagerVariable");
  const bool assigns = node.op == &assign_variable_op(), adds_up = node.op == &assign_add_variable_op();
  if (!assigns && !adds_up) return expect_kernel(node);
  Captured& captured = captured_as(node);
  const Output input{&graph_, node.inputs[0]};
  if (adds_up) {
    captured.added.push_back(input);
  } else {
    captured.in_graph = captured.in_graph.with_value(input);
    captured.added.clear();
    captured.updates.clear();
  }
  captured.updates.push_back({&graph_, {id, 0}});
}

// The value after what was added. The sums are nodes of their own: those that change a variable have an
// effect, and are no part of a function.
Variable Tracing::settled(Captured& captured) {
  if (!captured.added.empty()) expect_readable(graph_, captured.variable);
  for (const Output& delta : std::exchange(captured.added, {}))
    captured.in_graph =
        captured.in_graph.with_value(graph_.add(add_n_op(), {captured.in_graph.value(), delta}));
  return captured.in_graph;
}

std::vector<Tracing::Captured> Tracing::take() {
  for (Captured& captured : captured_) settled(captured);
  return std::move(captured_);
}

Tracing::Captured& Tracing::captured_as(const Node& node) {
  const EagerVariable* known = names_.find(attr<std::string>(node, "variable"));
  if (!known) refuse(node, "it assigns to a variable that it has not read");
  return capture(*known);
}

void Tracing::refuse(const Node& node, const std::string& why) const {
  throw Error(Code::unimplemented, what_ + ": " + naming(node, why));
}

}  // namespace actorflow

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

Tracing::Tracing(Graph& graph, std::string what) : graph_(graph), what_(std::move(what)) {
  graph_.set_observer(this);
}

Tracing::Captured& Tracing::capture(const EagerVariable& variable) {
  const auto known = std::ranges::find_if(
      captured_, [&](const Captured& captured) { return captured.variable.is(variable); });
  if (known != captured_.end()) return *known;
  const Unobserved unobserved(graph_);
  const Variable made = graph_.variable(free_name(variable.name()), graph_.constant(variable.read()));
  return captured_.emplace_back(variable, made.value(), made.value());
}

void Tracing::assign(const EagerVariable& variable, const Output& value) {
  const Captured& captured = capture(variable);
  expect_in_graph(graph_, value, "the value for eager variable '" + variable.name() + "'");
  graph_.assign(Variable(captured.read, {}), value);  // comes back to adds()
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
    captured.value = input;
    captured.added.clear();
    captured.updates.clear();
  }
  captured.updates.push_back({&graph_, {id, 0}});
}

// The value after what was added. The sums are nodes of their own: those that change a variable have an
// effect, and are no part of a function.
Output Tracing::settled(Captured& captured) {
  for (const Output& delta : std::exchange(captured.added, {}))
    captured.value = graph_.add(add_n_op(), {captured.value, delta});
  return captured.value;
}

std::vector<Tracing::Captured> Tracing::take() {
  for (Captured& captured : captured_) settled(captured);
  return std::move(captured_);
}

// The name, with a number behind it where another variable has it.
std::string Tracing::free_name(const std::string& name) const {
  const auto is_taken = [this](const std::string& wanted) {
    return std::ranges::any_of(captured_, [&](const Captured& captured) {
      return attr<std::string>(captured.read.node(), "variable") == wanted;
    });
  };
  std::string free = name;
  for (int number = 1; is_taken(free); ++number) free = name + "_" + std::to_string(number);
  return free;
}

Tracing::Captured& Tracing::captured_as(const Node& node) {
  const auto& name = attr<std::string>(node, "variable");
  const auto known = std::ranges::find_if(captured_, [&](const Captured& captured) {
    return attr<std::string>(captured.read.node(), "variable") == name;
  });
  if (known == captured_.end()) refuse(node, "it assigns to a variable that it has not read");
  return *known;
}

void Tracing::refuse(const Node& node, const std::string& why) const {
  throw Error(Code::unimplemented, what_ + ": " + naming(node, why));
}

}  // namespace actorflow

#include "kernels/eager/gradient_tape.h"

#include <algorithm>
#include <utility>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/gradient.h"
#include "kernels/core/node_error.h"
#include "kernels/eager/eager_graph.h"

namespace actorflow {
namespace {

// Runs `body`, which adds nodes behind the tape's and returns some of their outputs, and computes these.
// Empty where `body` returns an empty Output.
template <class Body>
std::vector<Tensor> computed_behind(EagerGraph& eager, const Body& body) {
  const Graph::Tail tail(eager.graph());
  std::vector<Edge> wanted;
  const std::vector<Output> outputs = body();
  for (const Output& output : outputs)
    if (output) wanted.push_back(output.edge);
  auto computed = eager.compute_collected(wanted);
  std::vector<Tensor> tensors;
  auto next = computed.begin();
  for (const Output& output : outputs) tensors.push_back(output ? std::move(*next++) : Tensor());
  return tensors;
}

Output sum_of(Graph& graph, const std::vector<Output>& parts) {
  if (parts.empty()) return {};
  return parts.size() == 1 ? parts[0] : graph.add(add_n_op(), parts);
}

// The gradients by variables as outputs: each of them has one, or for each of its rows two.
struct GradientOutputs {
  std::vector<std::size_t> rows;  // by variable; 0: dense, or none
  std::vector<Output> outputs;

  void add(const Output& gradient) {
    const auto slices = gradient ? indexed_slices(gradient) : std::vector<IndexedSlices>();
    rows.push_back(slices.size());
    for (const auto& slice : slices) outputs.insert(outputs.end(), {slice.values, slice.indices});
    if (slices.empty()) outputs.push_back(gradient);
  }
};

std::vector<Gradient> as_gradients(const std::vector<std::size_t>& rows, std::vector<Tensor> tensors) {
  std::vector<Gradient> gradients;
  auto next = tensors.begin();
  for (const std::size_t count : rows) {
    Gradient gradient;
    if (count == 0) gradient.dense = std::move(*next++);
    for (std::size_t i = 0; i < count; ++i, next += 2)
      gradient.rows.push_back({std::move(next[0]), std::move(next[1])});
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

}  // namespace

GradientTape::GradientTape(EagerContext& context) : eager_(std::make_unique<EagerGraph>(context)) {}
GradientTape::~GradientTape() = default;

Graph& GradientTape::graph() { return eager_->graph(); }

Output GradientTape::read(const EagerVariable& variable) { return eager_->read(variable); }

EagerVariable GradientTape::variable(std::string_view name) const {
  return eager_->variable(std::string(name));
}

std::vector<Tensor> GradientTape::gradients(Output loss, const std::vector<Output>& with_respect_to) {
  expect_in_graph(graph(), loss, "the loss");
  return computed_behind(*eager_, [&] { return actorflow::gradients(loss, with_respect_to); });
}

std::vector<Gradient> GradientTape::gradients(Output loss,
                                              const std::vector<EagerVariable>& with_respect_to) {
  expect_in_graph(graph(), loss, "the loss");
  std::vector<Output> reads;
  std::vector<std::size_t> ends;
  for (const auto& variable : with_respect_to) {
    std::ranges::copy(eager_->reads_of(variable), std::back_inserter(reads));
    ends.push_back(reads.size());
  }
  GradientOutputs by_variable;
  auto tensors = computed_behind(*eager_, [&] {
    const auto by_read = actorflow::gradients(loss, reads);
    std::size_t next = 0;
    for (const std::size_t end : ends) {
      std::vector<Output> parts;
      for (; next < end; ++next)
        if (by_read[next]) parts.push_back(by_read[next]);
      by_variable.add(sum_of(graph(), parts));
    }
    return by_variable.outputs;
  });
  return as_gradients(by_variable.rows, std::move(tensors));
}

EagerContext& context_of(const Graph& graph) {
  if (const VariableScope* scope = VariableScope::of(graph)) return scope->context();
  throw Error(
      Code::failed_precondition,
      "eager variables and models are used in the graph of a session; make a GradientTape, trace a "
      "function, or use a Model");
}

Tensor value(Output output) {
  const Node& node = output.node();
  output.type();  // throws
  EagerGraph* eager = EagerGraph::of(*output.graph);
  if (!eager)
    throw Error(Code::failed_precondition,
                naming(node,
                       "its graph does not run as it is built, so it has no value yet; fetch it "
                       "with Session::run(), or compute it in a GradientTape"));
  return eager->on_host(output.edge);
}

}  // namespace actorflow

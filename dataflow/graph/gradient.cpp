#include "dataflow/graph/gradient.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "dataflow/graph/core_ops.h"

namespace actorflow {
namespace {

[[noreturn]] void throw_no_gradient_yet(const Node& node) {
  throw Error(Code::unimplemented, "node '" + node.name + "' (" + std::string(node.op->name) +
                                       ") has a gradient that is not implemented: derivatives do not "
                                       "pass through it");
}

void check_loss(const Output& loss) {
  if (!loss)
    throw invalid_argument(
        "gradients() was given an empty Output as the loss; give it a scalar tensor, such as the "
        "result of mean()");
  if (!is_floating(loss.dtype()) || !loss.shape().has_rank() || loss.shape().rank() != 0)
    throw invalid_argument("the loss '" + loss.name() +
                           "' must be a scalar of a floating type, but is " + loss.type().to_string() +
                           "; reduce it with mean() or sum() first");
}

void expect_targets(const Output& of, const std::vector<Output>& targets) {
  for (std::size_t i = 0; i < targets.size(); ++i)
    expect_in_graph(*of.graph, targets[i],
                    "gradients() of '" + of.name() + "': target " + std::to_string(i));
}

void check_outputs(const std::vector<Output>& outputs, const std::vector<Output>& gradients) {
  if (outputs.empty() || outputs.size() != gradients.size())
    throw invalid_argument("gradients() needs one output or more and a gradient for each, got " +
                           std::to_string(outputs.size()) + " and " + std::to_string(gradients.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output &output = outputs[i], &gradient = gradients[i];
    expect_in_graph(*outputs.front().graph, output, "gradients(): output " + std::to_string(i));
    expect_in_graph(*outputs.front().graph, gradient,
                    "gradients(): the gradient of '" + output.name() + "'");
    if (!is_floating(output.dtype()) || gradient.dtype() != output.dtype() ||
        !gradient.shape().compatible_with(output.shape()))
      throw invalid_argument("gradients(): the output '" + output.name() + "' is " +
                             output.type().to_string() + ", but its gradient is " +
                             gradient.type().to_string() + "; expected one floating type and one shape");
  }
}

// REQUIRES: a floating dtype.
Tensor one_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return Tensor::scalar(1.0F);
    case DType::float16:
      return Tensor::scalar(Float16(1));
    case DType::bfloat16:
      return Tensor::scalar(BFloat16(1));
    default:
      return Tensor::scalar(1.0);
  }
}

// For every node up to the last output: does it depend on one of the targets?
std::vector<bool> nodes_after(const GraphDef& graph, const std::vector<Output>& targets, NodeId last) {
  std::vector<bool> after(static_cast<std::size_t>(last) + 1);
  const auto is_after = [&after](NodeId id) { return after[static_cast<std::size_t>(id)]; };
  for (const auto& target : targets)
    if (target.edge.node <= last) after[static_cast<std::size_t>(target.edge.node)] = true;
  for (NodeId id = 0; id <= last; ++id)
    if (std::ranges::any_of(graph.node(id).inputs, [&](Edge edge) { return is_after(edge.node); }))
      after[static_cast<std::size_t>(id)] = true;
  return after;
}

class Backpropagation {
 public:
  // REQUIRES: an output or more, of one graph.
  Backpropagation(const std::vector<Output>& outputs, const std::vector<Output>& targets)
      : graph_(*outputs.front().graph), last_(last_of(outputs)) {
    on_path_ = nodes_after(graph_.def(), targets, last_);
  }

  // Adds a gradient that flows into an output. Call before run().
  void arrives(Output output, Output gradient) { contributions_[output.edge].push_back(gradient); }
  // Stops gradients at these outputs: nothing flows on through them. Call before run().
  void end_at(const std::vector<Output>& leaves) {
    for (const Output& leaf : leaves) leaves_.insert(leaf.edge);
  }
  // The gradient of a loss for itself: 1.
  Output one(Output loss) const {
    return graph_.on(loss.node().device, [&] { return graph_.constant(one_of(loss.dtype()), "one"); });
  }

  // Walks from the last output to the earliest node. A node comes after all of its consumers in this
  // order, so that its gradients are complete when it is reached.
  void run() {
    for (NodeId id = last_; id >= 0; --id)
      if (on_path_[static_cast<std::size_t>(id)]) differentiate(id);
  }

  // Empty where nothing flowed back.
  std::vector<Output> gradients_of(const std::vector<Output>& targets) const {
    std::vector<Output> results;
    for (const Output& target : targets) {
      const auto found = contributions_.find(target.edge);
      results.push_back(found == contributions_.end() ? Output() : found->second.front());
    }
    return results;
  }

 private:
  static NodeId last_of(const std::vector<Output>& outputs) {
    NodeId last = 0;
    for (const Output& output : outputs) last = std::max(last, output.edge.node);
    return last;
  }

  bool ends_here(const Node& node) const {
    return std::ranges::none_of(
        node.inputs, [this](Edge input) { return on_path_[static_cast<std::size_t>(input.node)]; });
  }

  void differentiate(NodeId id) {
    const auto outputs = static_cast<int>(graph_.def().node(id).outputs.size());
    std::vector<Output> arriving;
    for (int i = 0; i < outputs; ++i) {
      const Output sum = sum_contributions({id, i});
      arriving.push_back(leaves_.contains({id, i}) ? Output() : sum);
    }
    // A copy: the gradient function appends nodes, which moves the others.
    const Node forward = graph_.def().node(id);
    if (ends_here(forward) || std::ranges::none_of(arriving, &Output::operator bool)) return;
    if (!forward.op->gradient) {
      // By its name it computes a gradient, and the gradient of that is not 0.
      if (forward.op->name.ends_with("Grad")) throw_no_gradient_yet(forward);
      return;
    }
    GradientContext context(graph_, id, std::move(arriving));
    const auto leaving = graph_.on(forward.device, [&] {
      return graph_.precision(precision_of(forward), [&] { return forward.op->gradient(context); });
    });
    pass_on(forward, leaving);
  }

  void pass_on(const Node& forward, const std::vector<Output>& leaving) {
    if (leaving.size() != forward.inputs.size())
      throw Error(Code::internal, "the gradient of op " + std::string(forward.op->name) + " returned " +
                                      std::to_string(leaving.size()) + " outputs for " +
                                      std::to_string(forward.inputs.size()) + " inputs");
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      const Edge input = forward.inputs[i];
      const auto& type = graph_.def().type(input);
      if (!leaving[i] || !is_floating(type.dtype) || !on_path_[static_cast<std::size_t>(input.node)])
        continue;
      if (leaving[i].dtype() != type.dtype || !leaving[i].shape().compatible_with(type.shape))
        throw Error(Code::internal, "node '" + forward.name + "' (" + std::string(forward.op->name) +
                                        "): its gradient for input " + std::to_string(i) + " of " +
                                        type.to_string() + " is " + leaving[i].type().to_string());
      contributions_[input].push_back(leaving[i]);
    }
  }

  // Adds up beside the first contribution rather than at the variable, so that one tensor crosses to it.
  Output sum_contributions(Edge edge) {
    const auto found = contributions_.find(edge);
    if (found == contributions_.end()) return {};
    auto& parts = found->second;
    if (parts.size() > 1)
      parts = {graph_.on(parts[0].node().device, [&] { return graph_.add(add_n_op(), parts); })};
    return parts[0];
  }

  Graph& graph_;
  NodeId last_;
  std::vector<bool> on_path_;
  std::set<Edge> leaves_;
  std::map<Edge, std::vector<Output>> contributions_;
};

bool is_sparse(const Output& gradient) {
  if (!gradient.node().op->scatters_rows) return false;
  const TensorType& indices = gradient.graph->def().type(gradient.node().inputs[1]);
  return indices.dtype == DType::int64 && indices.shape.has_rank() && indices.shape.rank() == 1;
}

}  // namespace

std::vector<IndexedSlices> indexed_slices(Output gradient) {
  const auto input = [&](std::size_t i) { return Output{gradient.graph, gradient.node().inputs[i]}; };
  if (is_sparse(gradient)) return {{input(0), input(1)}};
  if (gradient.node().op != &add_n_op()) return {};
  std::vector<IndexedSlices> slices;
  for (std::size_t i = 0; i < gradient.node().inputs.size(); ++i) {
    const auto part = indexed_slices(input(i));
    if (part.empty()) return {};
    slices.insert(slices.end(), part.begin(), part.end());
  }
  return slices;
}

std::vector<Output> gradients(Output loss, const std::vector<Output>& with_respect_to) {
  check_loss(loss);
  expect_targets(loss, with_respect_to);
  Backpropagation backpropagation({loss}, with_respect_to);
  loss.graph->name_scope("gradients", [&] {
    backpropagation.arrives(loss, backpropagation.one(loss));
    backpropagation.run();
  });
  return backpropagation.gradients_of(with_respect_to);
}

std::vector<Output> gradients(const std::vector<Output>& outputs,
                              const std::vector<Output>& gradients_of_outputs,
                              const std::vector<Output>& with_respect_to) {
  check_outputs(outputs, gradients_of_outputs);
  expect_targets(outputs.front(), with_respect_to);
  Backpropagation backpropagation(outputs, with_respect_to);
  backpropagation.end_at(with_respect_to);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    backpropagation.arrives(outputs[i], gradients_of_outputs[i]);
  outputs.front().graph->name_scope("gradients", [&] { backpropagation.run(); });
  return backpropagation.gradients_of(with_respect_to);
}

std::vector<Output> gradients_of_composition(GradientContext& c, const std::vector<Output>& composed) {
  std::vector<Output> outputs, arriving, inputs;
  for (std::size_t i = 0; i < composed.size(); ++i)
    if (const Output gradient = c.gradient(static_cast<int>(i))) {
      outputs.push_back(composed[i]);
      arriving.push_back(gradient);
    }
  for (std::size_t i = 0; i < c.node().inputs.size(); ++i)
    inputs.push_back(c.input(static_cast<int>(i)));
  auto leaving = gradients(outputs, arriving, inputs);
  // Of a tensor that is several inputs each gradient is that by all of them together.
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (inputs[i].edge == inputs[j].edge) leaving[i] = {};
  return leaving;
}

std::vector<Output> no_gradient_yet(GradientContext& c) { throw_no_gradient_yet(c.node()); }

}  // namespace actorflow

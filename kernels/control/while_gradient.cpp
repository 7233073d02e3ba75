#include <algorithm>
#include <numeric>

#include "dataflow/graph/op_attrs.h"
#include "kernels/control/gradients_through.h"
#include "kernels/control/loop.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// (variables, tensors of the condition, tensors of the body, gradients of the last floating variables,
// zeros for the floating tensors of the body) -> gradients of the first floating variables and of the
// floating tensors of the body. `step` takes (variables, tensors of the body, gradients, sums) of one
// iteration to gradients and sums of the one before.
void infer_while_gradient(InferContext& c) {
  const LoopTypes inputs = types_of_inputs(c);
  const auto parts = expect_loop(c, inputs);
  const auto variables = c.attr<SubgraphRef>("body")->input_types();
  LoopTypes of_step =
      joined<TensorType>(std::span(variables).first(parts.variables.size()), parts.of_body);
  of_step.insert(of_step.end(), parts.rest.begin(), parts.rest.end());
  const auto step = c.attr<SubgraphRef>("step");
  expect_subgraph(c, "step", step, of_step);
  const LoopTypes leaving = step->output_types();
  if (leaving.size() != parts.rest.size())
    c.fail("a step with " + std::to_string(parts.rest.size()) + " results",
           std::to_string(leaving.size()));
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    if (leaving[i].dtype != parts.rest[i].dtype)
      c.fail("gradients of one dtype", leaving[i].to_string() + " and " + parts.rest[i].to_string());
    const TensorType type = common_type(leaving[i], parts.rest[i]);
    c.add_output(type.dtype, type.shape);
  }
}

class WhileGradientKernel final : public Kernel {
 public:
  WhileGradientKernel(const Node& node, const OpLibrary& ops, DeviceType device)
      : loop_(node, ops, device), step_(node, "step", ops, device) {}

  void compute(OpContext& c) const override {
    const LoopTensors inputs = inputs_of(c);
    const auto parts = loop_.parts(inputs);
    std::vector<LoopTensors> history;
    loop_.run(parts, c, [&history](const LoopTensors& variables) { history.push_back(variables); });
    LoopTensors gradients(parts.rest.begin(), parts.rest.end());
    for (; !history.empty(); history.pop_back()) {
      c.expect_use();
      LoopTensors of_step = joined<Tensor>(history.back(), parts.of_body);
      of_step.insert(of_step.end(), gradients.begin(), gradients.end());
      gradients = step_.run(of_step, c);
    }
    set_outputs(c, std::move(gradients));
  }

 private:
  Loop loop_;
  SubgraphBody step_;
};

std::vector<std::size_t> floating_places(const std::vector<Output>& tensors) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (is_floating(tensors[i].dtype())) places.push_back(i);
  return places;
}

std::vector<Output> chosen(const std::vector<Output>& all, const std::vector<std::size_t>& places) {
  std::vector<Output> some;
  for (const std::size_t place : places) some.push_back(all[place]);
  return some;
}

// The gradient of one iteration: of its variables, and the sums with those of what the body uses.
class IterationGradient {
 public:
  // `variables`: how many; `floating`: those of the body's inputs that have a gradient.
  IterationGradient(const Subgraph& body, std::size_t variables, std::vector<std::size_t> floating)
      : body_(body), variables_(variables), floating_(std::move(floating)) {}

  // (inputs of the body, gradients of the next floating variables, sums of the others).
  std::vector<Output> operator()(const std::vector<Output>& arguments) const {
    const std::size_t count = body_.input_types().size();
    const std::vector<Output> inputs(arguments.begin(),
                                     arguments.begin() + static_cast<std::ptrdiff_t>(count));
    const auto next = add_inline(*inputs[0].graph, body_, inputs);
    std::vector<Output> arriving(next.size());
    for (std::size_t k = 0; k < floating_.size() && floating_[k] < variables_; ++k)
      arriving[floating_[k]] = arguments[count + k];
    const auto leaving = gradients_through(next, arriving, chosen(inputs, floating_));
    std::vector<Output> results;
    for (std::size_t k = 0; k < floating_.size(); ++k) {
      const bool is_variable = floating_[k] < variables_;
      const Output before = arguments[count + k];
      if (is_variable)
        results.push_back(leaving[k] ? leaving[k] : zeros_like(inputs[floating_[k]]));
      else
        results.push_back(leaving[k] ? before + leaving[k] : before);
    }
    return results;
  }

 private:
  const Subgraph& body_;
  std::size_t variables_;
  std::vector<std::size_t> floating_;
};

const OpDef& while_gradient_op() {
  static const OpDef op{.name = "WhileGradient",
                        .min_inputs = 1,
                        .max_inputs = OpDef::any_number,
                        .attrs = loop_attrs() + std::vector{required("step", SubgraphRef())},
                        .infer = infer_while_gradient,
                        .gradient = no_gradient_yet,
                        .needs_host = true};
  return op;
}

}  // namespace

std::vector<Output> while_gradient(GradientContext& c) {
  const auto body = c.attr<SubgraphRef>("body");
  const auto variables = static_cast<std::size_t>(c.attr<std::int64_t>("variables"));
  std::vector<Output> all;
  for (int i = 0; i < static_cast<int>(c.node().inputs.size()); ++i) all.push_back(c.input(i));
  const std::size_t used_by_condition =
      c.attr<SubgraphRef>("condition")->input_types().size() - variables;
  // The body's inputs, as places among those of the node.
  std::vector<std::size_t> places(variables);
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (std::size_t i = variables + used_by_condition; i < all.size(); ++i) places.push_back(i);
  const std::vector<Output> of_body = chosen(all, places);
  const auto floating = floating_places(of_body);
  std::vector<Output> gradients(all.size());
  if (floating.empty()) return gradients;

  std::vector<Output> inputs = all;
  LoopTypes arguments = body->input_types();
  for (const std::size_t place : floating) {
    const bool is_variable = place < variables;
    const Output arriving = is_variable ? c.gradient(static_cast<int>(place)) : Output();
    const Output last = is_variable ? c.output(static_cast<int>(place)) : of_body[place];
    inputs.push_back(arriving ? arriving : zeros_like(last));
    arguments.push_back(body->input_types()[place]);
  }
  const Captured step = capture(c.graph(), "the gradient of while_loop()", arguments,
                                IterationGradient(*body, variables, floating));
  Attrs attrs = c.node().attrs;
  attrs["step"] = step.subgraph;
  const auto leaving = outputs_of(c.graph().add(while_gradient_op(), inputs, std::move(attrs)));
  for (std::size_t k = 0; k < floating.size(); ++k) gradients[places[floating[k]]] = leaving[k];
  return gradients;
}

std::vector<Op> while_gradient_ops() {
  return {{.def = &while_gradient_op(), .with_bodies = with_bodies<WhileGradientKernel>}};
}

}  // namespace actorflow

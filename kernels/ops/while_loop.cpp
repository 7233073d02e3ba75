#include <algorithm>
#include <numeric>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/op_attrs.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/subgraph_body.h"
#include "kernels/ops.h"
#include "kernels/ops/control_flow.h"
#include "kernels/ops/gradients_through.h"

namespace actorflow {
namespace {

using Types = std::vector<TensorType>;
using Tensors = std::vector<Tensor>;

std::vector<AttrDef> loop_attrs() {
  return {required("condition", SubgraphRef()), required("body", SubgraphRef()),
          required_int("max_iterations"), required_int("variables")};
}

template <class T>
std::vector<T> joined(std::span<const T> a, std::span<const T> b) {
  std::vector<T> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

std::size_t inputs_of(const SubgraphRef& subgraph) {
  return subgraph ? subgraph->input_types().size() : 0;
}

// The inputs of a loop: its variables, then what the condition and what the body use of the graph.
template <class T>
struct LoopInputs {
  std::span<const T> variables, of_condition, of_body, rest;

  static LoopInputs of(std::span<const T> all, std::size_t variables, std::size_t condition,
                       std::size_t body) {
    const std::size_t used_by_condition = condition - variables, used_by_body = body - variables;
    return {all.first(variables), all.subspan(variables, used_by_condition),
            all.subspan(variables + used_by_condition, used_by_body),
            all.subspan(variables + used_by_condition + used_by_body)};
  }
};

// Checks the subgraphs of a loop; returns the types of its inputs.
LoopInputs<TensorType> expect_loop(const InferContext& c, const Types& inputs) {
  const auto condition = c.attr<SubgraphRef>("condition"), body = c.attr<SubgraphRef>("body");
  const auto variables = c.attr<std::int64_t>("variables");
  const std::size_t of_condition = inputs_of(condition), of_body = inputs_of(body);
  const auto count = static_cast<std::size_t>(variables);
  if (variables < 1 || of_condition < count || of_body < count ||
      of_condition + of_body - count > inputs.size())
    c.fail(std::to_string(variables) + " loop variables, and " + std::to_string(of_condition) + " and " +
               std::to_string(of_body) + " inputs of condition and body",
           std::to_string(inputs.size()) + " inputs");
  const auto parts = LoopInputs<TensorType>::of(inputs, count, of_condition, of_body);
  expect_subgraph(c, "condition", condition, joined(parts.variables, parts.of_condition));
  expect_subgraph(c, "body", body, joined(parts.variables, parts.of_body));
  const Types said = condition->output_types(), next = body->output_types();
  if (said.size() != 1 || said[0].dtype != DType::boolean ||
      (said[0].shape.has_rank() && said[0].shape.rank() != 0))
    c.fail("a condition that is a bool scalar", said.empty() ? "nothing" : said[0].to_string());
  if (next.size() != count)
    c.fail("a body that returns " + std::to_string(count) + " variables", std::to_string(next.size()));
  const Types given = body->input_types();
  for (std::size_t i = 0; i < count; ++i)
    if (next[i].dtype != given[i].dtype || common_type(next[i], given[i]) != given[i])
      c.fail("loop variable " + std::to_string(i) + " to stay " + given[i].to_string(),
             next[i].to_string());
  return parts;
}

Types types_of_inputs(const InferContext& c) {
  Types inputs;
  for (int i = 0; i < c.inputs(); ++i) inputs.push_back(c.input(i));
  return inputs;
}

void infer_while(InferContext& c) {
  const Types inputs = types_of_inputs(c);
  if (!expect_loop(c, inputs).rest.empty()) c.fail("no further inputs", std::to_string(inputs.size()));
  const Types variables = c.attr<SubgraphRef>("body")->input_types();
  for (std::int64_t i = 0; i < c.attr<std::int64_t>("variables"); ++i)
    c.add_output(variables[static_cast<std::size_t>(i)].dtype,
                 variables[static_cast<std::size_t>(i)].shape);
}

// A loop as it runs.
class Loop {
 public:
  Loop(const Node& node, const OpLibrary& ops, DeviceType device)
      : condition_(node, "condition", ops, device),
        body_(node, "body", ops, device),
        variables_(static_cast<std::size_t>(attr<std::int64_t>(node, "variables"))),
        max_iterations_(attr<std::int64_t>(node, "max_iterations")) {}

  LoopInputs<Tensor> parts(const Tensors& inputs) const {
    return LoopInputs<Tensor>::of(inputs, variables_, static_cast<std::size_t>(condition_.inputs()),
                                  static_cast<std::size_t>(body_.inputs()));
  }

  // Calls before_body(variables) before each iteration. Returns the last variables.
  template <class BeforeBody>
  Tensors run(const LoopInputs<Tensor>& inputs, const OpContext& c,
              const BeforeBody& before_body) const {
    Tensors variables(inputs.variables.begin(), inputs.variables.end());
    for (std::int64_t i = 0; condition_.holds(joined<Tensor>(variables, inputs.of_condition), c); ++i) {
      if (i == max_iterations_)
        throw Error(Code::out_of_range,
                    "the loop did not end within " + std::to_string(max_iterations_) +
                        " iterations; give it more by LoopOptions::max_iterations, or see why its "
                        "condition stays true");
      c.expect_use();
      before_body(variables);
      variables = body_.run(joined<Tensor>(variables, inputs.of_body), c);
    }
    return variables;
  }

 private:
  SubgraphBody condition_, body_;
  std::size_t variables_;
  std::int64_t max_iterations_;
};

Tensors inputs_of(const OpContext& c) {
  Tensors inputs;
  for (int i = 0; i < c.inputs(); ++i) inputs.push_back(c.input(i));
  return inputs;
}

void set_outputs(OpContext& c, Tensors outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    c.set_output(static_cast<int>(i), std::move(outputs[i]));
}

class WhileKernel final : public Kernel {
 public:
  WhileKernel(const Node& node, const OpLibrary& ops, DeviceType device) : loop_(node, ops, device) {}

  void compute(OpContext& c) const override {
    const Tensors inputs = inputs_of(c);
    set_outputs(c, loop_.run(loop_.parts(inputs), c, [](const Tensors&) {}));
  }

 private:
  Loop loop_;
};

// (variables, tensors of the condition, tensors of the body, gradients of the last floating variables,
// zeros for the floating tensors of the body) -> gradients of the first floating variables and of the
// floating tensors of the body. `step` takes (variables, tensors of the body, gradients, sums) of one
// iteration to gradients and sums of the one before.
void infer_while_gradient(InferContext& c) {
  const Types inputs = types_of_inputs(c);
  const auto parts = expect_loop(c, inputs);
  const auto variables = c.attr<SubgraphRef>("body")->input_types();
  Types of_step = joined<TensorType>(std::span(variables).first(parts.variables.size()), parts.of_body);
  of_step.insert(of_step.end(), parts.rest.begin(), parts.rest.end());
  const auto step = c.attr<SubgraphRef>("step");
  expect_subgraph(c, "step", step, of_step);
  const Types leaving = step->output_types();
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
    const Tensors inputs = inputs_of(c);
    const auto parts = loop_.parts(inputs);
    std::vector<Tensors> history;
    loop_.run(parts, c, [&history](const Tensors& variables) { history.push_back(variables); });
    Tensors gradients(parts.rest.begin(), parts.rest.end());
    for (; !history.empty(); history.pop_back()) {
      c.expect_use();
      Tensors of_step = joined<Tensor>(history.back(), parts.of_body);
      of_step.insert(of_step.end(), gradients.begin(), gradients.end());
      gradients = step_.run(of_step, c);
    }
    set_outputs(c, std::move(gradients));
  }

 private:
  Loop loop_;
  SubgraphBody step_;
};

std::vector<Output> no_second_gradient(GradientContext& c) {
  throw invalid_argument(
      "node '" + c.node().name +
      "': the gradient of a while_loop() has no gradient of its own; unroll the loop in "
      "the graph where second derivatives are wanted");
}

const OpDef& while_gradient_op() {
  static const OpDef op{.name = "WhileGradient",
                        .min_inputs = 1,
                        .max_inputs = OpDef::any_number,
                        .attrs = loop_attrs() + std::vector{required("step", SubgraphRef())},
                        .infer = infer_while_gradient,
                        .gradient = no_second_gradient,
                        .needs_host = true};
  return op;
}

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
  Types arguments = body->input_types();
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

const OpDef& while_op() {
  static const OpDef op{.name = "While",
                        .min_inputs = 1,
                        .max_inputs = OpDef::any_number,
                        .attrs = loop_attrs(),
                        .infer = infer_while,
                        .gradient = while_gradient,
                        .needs_host = true};
  return op;
}

// The types that the variables keep from one iteration to the next, and the body for them.
class LoopTypes {
 public:
  LoopTypes(Graph& graph, const LoopBody& function, const std::vector<Output>& initial)
      : graph_(graph), function_(function) {
    for (const Output& variable : initial) types_.push_back(variable.type());
  }

  // A dimension can become unknown, then the rank: three calls are enough.
  Captured find() {
    for (int calls = 0;; ++calls) {
      const Captured body = capture(graph_, "while_loop(), body", types_, function_);
      if (calls == 3 || !widen(body.subgraph->output_types())) return body;
    }
  }
  const Types& types() const { return types_; }

 private:
  // Where a variable changes its dtype, the op's shape function refuses it.
  bool widen(const Types& next) {
    bool changed = false;
    for (std::size_t i = 0; i < std::min(next.size(), types_.size()); ++i) {
      if (next[i].dtype != types_[i].dtype) continue;
      const TensorType wide = common_type(types_[i], next[i]);
      changed = changed || wide != types_[i];
      types_[i] = wide;
    }
    return changed;
  }

  Graph& graph_;
  const LoopBody& function_;
  Types types_;
};

}  // namespace

std::vector<Op> while_loop_ops() {
  return {{.def = &while_op(), .with_bodies = with_bodies<WhileKernel>},
          {.def = &while_gradient_op(), .with_bodies = with_bodies<WhileGradientKernel>}};
}

LoopVariables while_loop(const LoopCondition& condition, const LoopBody& body,
                         const LoopVariables& initial, const LoopOptions& options) {
  if (initial.empty()) throw invalid_argument("while_loop(): expected a variable or more, got none");
  Graph& graph = *initial[0].graph;
  return graph.name_scope("while", [&] {
    LoopTypes types(graph, body, initial);
    const Captured next = types.find();
    const Captured goes_on =
        capture(graph, "while_loop(), condition", types.types(),
                [&condition](const LoopVariables& v) { return std::vector{condition(v)}; });
    std::vector<Output> inputs = initial;
    inputs.insert(inputs.end(), goes_on.tensors.begin(), goes_on.tensors.end());
    inputs.insert(inputs.end(), next.tensors.begin(), next.tensors.end());
    return outputs_of(graph.add(while_op(), inputs,
                                {{"condition", goes_on.subgraph},
                                 {"body", next.subgraph},
                                 {"max_iterations", options.max_iterations},
                                 {"variables", static_cast<std::int64_t>(initial.size())}}));
  });
}

}  // namespace actorflow

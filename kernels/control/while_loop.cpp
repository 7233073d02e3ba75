#include <algorithm>

#include "dataflow/graph/op_attrs.h"
#include "kernels/control/control_flow.h"
#include "kernels/control/loop.h"
#include "kernels/core/builtin_ops.h"

namespace actorflow {
namespace {

void infer_while(InferContext& c) {
  const LoopTypes inputs = types_of_inputs(c);
  if (!expect_loop(c, inputs).rest.empty()) c.fail("no further inputs", std::to_string(inputs.size()));
  const LoopTypes variables = c.attr<SubgraphRef>("body")->input_types();
  for (std::int64_t i = 0; i < c.attr<std::int64_t>("variables"); ++i)
    c.add_output(variables[static_cast<std::size_t>(i)].dtype,
                 variables[static_cast<std::size_t>(i)].shape);
}

class WhileKernel final : public Kernel {
 public:
  WhileKernel(const Node& node, const OpLibrary& ops, DeviceType device) : loop_(node, ops, device) {}

  void compute(OpContext& c) const override {
    const LoopTensors inputs = inputs_of(c);
    set_outputs(c, loop_.run(loop_.parts(inputs), c, [](const LoopTensors&) {}));
  }

 private:
  Loop loop_;
};

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
class VariableTypes {
 public:
  VariableTypes(Graph& graph, const LoopBody& function, const std::vector<Output>& initial)
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
  const LoopTypes& types() const { return types_; }

 private:
  // Where a variable changes its dtype, the op's shape function refuses it.
  bool widen(const LoopTypes& next) {
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
  LoopTypes types_;
};

}  // namespace

std::vector<Op> while_loop_ops() {
  return {{.def = &while_op(), .with_bodies = with_bodies<WhileKernel>}};
}

LoopVariables while_loop(const LoopCondition& condition, const LoopBody& body,
                         const LoopVariables& initial, const LoopOptions& options) {
  if (initial.empty()) throw invalid_argument("while_loop(): expected a variable or more, got none");
  Graph& graph = *initial[0].graph;
  return graph.name_scope("while", [&] {
    VariableTypes types(graph, body, initial);
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

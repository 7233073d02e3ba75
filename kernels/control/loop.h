// Loops as they run: what while_loop() and its gradient share. For these two only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/control/subgraph_body.h"

namespace actorflow {

using LoopTypes = std::vector<TensorType>;
using LoopTensors = std::vector<Tensor>;

// condition, body, max_iterations, variables (how many there are).
std::vector<AttrDef> loop_attrs();

template <class T>
std::vector<T> joined(std::span<const T> a, std::span<const T> b) {
  std::vector<T> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
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

// Checks the attributes of a loop; returns the types of its inputs, which refer to `inputs`.
LoopInputs<TensorType> expect_loop(const InferContext& c, const LoopTypes& inputs);

// A loop as it runs.
class Loop {
 public:
  Loop(const Node& node, const OpLibrary& ops, DeviceType device)
      : condition_(node, "condition", ops, device),
        body_(node, "body", ops, device),
        variables_(static_cast<std::size_t>(attr<std::int64_t>(node, "variables"))),
        max_iterations_(attr<std::int64_t>(node, "max_iterations")) {}

  LoopInputs<Tensor> parts(const LoopTensors& inputs) const {
    return LoopInputs<Tensor>::of(inputs, variables_, static_cast<std::size_t>(condition_.inputs()),
                                  static_cast<std::size_t>(body_.inputs()));
  }

  // Calls before_body(variables) before each iteration. Returns the last variables.
  template <class BeforeBody>
  LoopTensors run(const LoopInputs<Tensor>& inputs, const OpContext& c,
                  const BeforeBody& before_body) const {
    LoopTensors variables(inputs.variables.begin(), inputs.variables.end());
    for (std::int64_t i = 0; condition_.holds(joined<Tensor>(variables, inputs.of_condition), c); ++i) {
      if (i == max_iterations_)
        throw Error(Code::failed_precondition,
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

// The gradient of the op While.
std::vector<Output> while_gradient(GradientContext& c);

}  // namespace actorflow

// GradientTape: ops that compute at once, and gradients of what they have computed.
//
//   EagerVariable w("w", Tensor{0.0F, 0.0F}), b("b", Tensor{0.0F});
//   EagerOptimizer optimizer(Sgd{0.1});
//   for (const auto& [x, y] : examples) {
//     GradientTape tape;
//     const Output loss = mean(square(sum(tape.constant(x) * w, {1}) + b - tape.constant(y)));
//     if (value(loss).scalar<float>() < 0.01F) break;
//     optimizer.apply(tape.gradients(loss, {w, b}), {w, b});
//   }
//
// The ops are those of graphs (kernels/ops.h): each runs as it is called, and throws there what its
// kernel throws. A tape keeps all tensors that were computed in it until it ends; so a loop makes a tape
// for each step, and what is to live on is taken out as a Tensor or kept in a variable: an Output whose
// tape has ended is refused.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/eager/eager_context.h"
#include "kernels/eager/eager_variable.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow {

class EagerGraph;

// Used, and ended, by the thread that made it. Different threads may have tapes of the same variables.
class GradientTape {
 public:
  explicit GradientTape(EagerContext& context = EagerContext::standard());
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;
  ~GradientTape();

  // For functions that take a graph, such as random_normal(), and its scopes of names and precision.
  Graph& graph();
  // The tensor, which is not copied, or a scalar.
  Output constant(Tensor value) { return graph().constant(std::move(value)); }
  template <Element T>
  Output constant(T value) {
    return graph().constant(std::move(value));
  }
  // The variable's value now; a variable that is given to an op is read in the innermost tape.
  Output read(const EagerVariable& variable);
  // That of a variable that was made by Graph::variable(), as layers do. Throws not_found.
  EagerVariable variable(std::string_view name) const;

  // d loss / d x for each x, an empty tensor where the loss does not depend on x. Any tensor of the tape
  // may be an x, and a tape may be asked as often as wanted. On the tape's device. For derivatives of
  // higher order, gradients() of dataflow/graph/gradient.h gives Outputs. Throws invalid_argument unless
  // the loss is a floating scalar of this tape, and what the kernels throw.
  std::vector<Tensor> gradients(Output loss, const std::vector<Output>& with_respect_to);
  std::vector<Tensor> gradients(Output loss, std::initializer_list<Output> with_respect_to) {
    return gradients(loss, std::vector<Output>(with_respect_to));
  }
  // The same for variables: of all values that they have had in this tape together. Those of embeddings
  // are row-sparse.
  std::vector<Gradient> gradients(Output loss, const std::vector<EagerVariable>& with_respect_to);
  std::vector<Gradient> gradients(Output loss, std::initializer_list<EagerVariable> with_respect_to) {
    return gradients(loss, std::vector<EagerVariable>(with_respect_to));
  }

 private:
  std::unique_ptr<EagerGraph> eager_;
};

// The context of a tape's graph, or of a function that is traced. Throws failed_precondition for a graph
// of another kind.
EagerContext& context_of(const Graph& graph);

// What was computed, on the host. Throws failed_precondition for an output of a graph that does not run
// as it is built: a session's, or that of a function that is traced.
Tensor value(Output output);

}  // namespace actorflow

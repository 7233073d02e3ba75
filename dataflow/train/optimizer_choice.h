// Which optimizer updates which variable.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/ops/optimizer.h"

namespace actorflow {

// One optimizer for all variables, or a function that chooses one for each.
class OptimizerChoice {
 public:
  OptimizerChoice(const Optimizer& optimizer)  // NOLINT: implicit: an optimizer is a choice
      : choose_([optimizer](const Variable&) { return optimizer; }), of_all_(optimizer) {}
  template <DescribedOptimizer O>
  OptimizerChoice(const O& optimizer) : OptimizerChoice(Optimizer(optimizer)) {}  // NOLINT
  template <class Function>
  requires std::invocable<const Function&, const Variable&> OptimizerChoice(Function choose)
      : choose_(std::move(choose)) {}  // NOLINT

  // Throws invalid_argument if the optimizer cannot update this variable.
  Optimizer of(const Variable& variable) const;
  // The optimizer of all variables; none where a function chooses.
  const std::optional<Optimizer>& of_all() const { return of_all_; }

 private:
  std::function<Optimizer(const Variable&)> choose_;
  std::optional<Optimizer> of_all_;
};

// Whether a variable's name contains one of the parts.
bool name_contains(const Variable& variable, const std::vector<std::string>& parts);

// The optimizer, but without weight decay for variables whose names contain one of the parts, such as
// "bias" and "norm".
template <DescribedOptimizer O>
requires requires(O o) { o.weight_decay; }
OptimizerChoice decay_except(const O& optimizer, const std::vector<std::string>& parts) {
  return [optimizer, parts](const Variable& variable) -> Optimizer {
    O chosen = optimizer;
    if (name_contains(variable, parts)) chosen.weight_decay = 0;
    return chosen;
  };
}

// Muon for matrices and filters whose names contain none of the parts, such as "embedding" and "logits",
// and `others` for all other variables, as its authors propose. A learning rate that each step computes
// replaces those of both.
OptimizerChoice muon_for_matrices(const Muon& muon, const Optimizer& others,
                                  const std::vector<std::string>& parts = {});

}  // namespace actorflow

// EagerOptimizer: the optimizers of sessions, applied to eager variables.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/ops/optimizer.h"
#include "kernels/eager/eager_context.h"
#include "kernels/eager/eager_variable.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow {

// Keeps the slots of each variable that it has updated; the formulas, and so the bits, are those of
// parameter shards. Not thread-safe, but optimizers of several threads may update the same variables:
// each update of a variable happens at once.
class EagerOptimizer {
 public:
  // The context names the device of updates, and own optimizers (EagerOptions::extensions). Throws
  // not_found for an optimizer that it does not know.
  explicit EagerOptimizer(const Optimizer& optimizer, EagerContext& context = EagerContext::standard());
  EagerOptimizer(EagerOptimizer&&) noexcept;
  EagerOptimizer& operator=(EagerOptimizer&&) noexcept;
  ~EagerOptimizer();

  // One step: gradients[i] is that of variables[i]. Variables whose gradient is empty stay as they are.
  // Throws invalid_argument, and changes nothing, if a gradient does not fit its variable, if the
  // optimizer does not take the variable, or if all gradients are empty. Tensors may be of any device.
  void apply(const std::vector<Gradient>& gradients, const std::vector<EagerVariable>& variables);

  const std::string& name() const;  // "adam"
  double learning_rate() const;
  void set_learning_rate(double rate);

  std::span<const std::string_view> slot_names() const;
  // In the order of slot_names(); none before the first update of the variable.
  std::vector<Tensor> slots(const EagerVariable& variable) const;
  // Goes on from slots that were saved; from none, as at first. Throws invalid_argument, as
  // expect_slots() does, unless they are as many as the optimizer has, each of its type.
  void set_slots(const EagerVariable& variable, std::vector<Tensor> slots);
  void expect_slots(const EagerVariable& variable, const std::vector<Tensor>& slots) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow

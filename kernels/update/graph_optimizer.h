// Optimizers whose formula needs the whole variable, such as its norm: the formula is a graph of ops
// (kernels/ops.h), computed on the variable's device. A row-sparse gradient becomes dense for it, which
// costs as much as the whole variable.
//
// The struct of the optimizer (dataflow/ops/optimizer.h) has a static member function
//
//   static UpdatedState formula(const UpdateInputs& in);
//
// which is called once for each shape and dtype of variables.
#pragma once

#include <memory>
#include <vector>

#include "dataflow/graph/graph.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow {

// What the formula is given. The hyperparameters, in the order of O::fields(), and the number of the
// update, from 1 on, are scalars of float64; the rest has the variable's type.
struct UpdateInputs {
  Output gradient, value;
  std::vector<Output> slots;  // without "step"
  std::vector<Output> hyperparameters;
  Output step;
};
// What it returns: the value and the slots, without "step", after the update.
struct UpdatedState {
  Output value;
  std::vector<Output> slots;
};

class GraphOptimizer final : public OptimizerRule {
 public:
  struct Description {
    std::string_view name;
    std::span<const std::string_view> slots;
    std::size_t hyperparameters = 1;
    double (*initial_slot)(Hyperparameters values, std::string_view slot) = nullptr;
    UpdatedState (*formula)(const UpdateInputs& in) = nullptr;
  };
  explicit GraphOptimizer(const Description& description);
  ~GraphOptimizer() override;

  std::string_view name() const override { return about_.name; }
  std::span<const std::string_view> slots() const override { return about_.slots; }
  double initial_slot(Hyperparameters values, std::string_view slot) const override {
    return about_.initial_slot(values, slot);
  }
  void check(Hyperparameters values) const override;
  // Throw also what the formula throws for a variable of this type.
  void check_variable(const TensorType& type, const Device& device) const override;
  void apply(Hyperparameters values, VariableState& state, std::span<const Tensor> gradients,
             Device& device, Team* team) const override;
  void apply_rows(Hyperparameters values, VariableState& state,
                  std::span<const SparseGradient> gradients, Device& device, Team* team) const override;

 private:
  struct Bodies;

  void apply_dense(Hyperparameters values, VariableState& state, const Tensor& gradient, Device& device,
                   Team* team) const;

  Description about_;
  std::unique_ptr<Bodies> bodies_;  // compiled formulas
};

// The rule of an optimizer struct; the same object each time.
template <DescribedOptimizer O>
const OptimizerRule& graph_optimizer() {
  constexpr auto initial = [](Hyperparameters values, std::string_view slot) -> double {
    if constexpr (requires(const O& o) { o.initial_slot(slot); })
      return described<O>(values).initial_slot(slot);
    else
      return 0;
  };
  static const GraphOptimizer rule({O::name, O::slots, O::fields().size(), initial, O::formula});
  return rule;
}

// whole_variable_optimizers.cpp
const OptimizerRule& lamb_optimizer();
const OptimizerRule& muon_optimizer();

}  // namespace actorflow

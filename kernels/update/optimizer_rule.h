// What an optimizer is to a parameter shard: its slots, and how it updates a variable by dense and by
// row-sparse gradients. A program's own optimizer is an OptimizerRule that it hands to its servers
// (ServerOptions::extensions); elementwise_optimizer() and graph_optimizer() make one of a formula.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dataflow/graph/op.h"
#include "dataflow/ops/optimizer.h"
#include "dataflow/values/tensor.h"
#include "kernels/devices/device.h"
#include "kernels/devices/team.h"

namespace actorflow {

// A variable and its optimizer's slots: one tensor per name of OptimizerRule::slots(), in that order.
// Value and slots live on one device, except a slot "step", which stays on the host.
struct VariableState {
  Tensor value;
  std::vector<Tensor> slots;
};

// Rows of a gradient: values [n, ...] for the rows `indices` [n], int64, of the variable [rows, ...].
struct GradientRows {
  Tensor values;
  Tensor indices;
};
// A gradient that is the sum of these; rows of equal indices add up.
using SparseGradient = std::vector<GradientRows>;
// A gradient of either kind.
struct Gradient {
  Gradient() = default;  // none: what it is of does not depend on the variable
  Gradient(Tensor tensor) : dense(std::move(tensor)) {}         // NOLINT: implicit: each is a gradient
  Gradient(SparseGradient sparse) : rows(std::move(sparse)) {}  // NOLINT
  bool is_dense() const { return dense.valid(); }
  bool empty() const { return !is_dense() && rows.empty(); }

  Tensor dense;  // empty if the gradient is row-sparse
  SparseGradient rows;
};

using Hyperparameters = std::span<const double>;

// A gradient for one of several variables that are updated together.
struct VariableUpdate {
  Hyperparameters values;
  VariableState* state;
  Tensor gradient;
  std::exception_ptr failure{};  // set where the update failed; the state is then unchanged
};

// Thread-safe. An update is a function of its arguments alone: the same calls give the same bits. It
// replaces tensors with other holders by updated copies, so that no reader sees half an update; if it
// throws, the state is unchanged. State and gradients are on `device`; a team shares the work.
class OptimizerRule {
 public:
  virtual ~OptimizerRule() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const std::string_view> slots() const = 0;
  // The value that a slot begins with; not asked of "step".
  virtual double initial_slot(Hyperparameters values, std::string_view slot) const = 0;
  // Throws invalid_argument unless these are valid hyperparameters of the optimizer.
  virtual void check(Hyperparameters values) const = 0;
  // Throws what an update of a variable of this type would throw, whatever the gradient.
  virtual void check_variable(const TensorType& /*type*/, const Device& /*device*/) const {}

  // Applies the mean (g0 + g1 + ...) / count, added in this order. REQUIRES: one gradient or more, all
  // of the value's type, which is floating, and the slots are the optimizer's.
  virtual void apply(Hyperparameters values, VariableState& state, std::span<const Tensor> gradients,
                     Device& device, Team* team) const = 0;
  // Applies a gradient to each variable, which must be another one each time: the bits are those of
  // apply(), but a GPU may need one launch for many. Throws nothing: what fails says so itself.
  virtual void apply_each(std::span<VariableUpdate> updates, Device& device, Team* team) const noexcept;
  // The same as apply() for row-sparse gradients: each row's sum is divided by the number of the
  // gradients that have the row. Indices may also be on the host. REQUIRES: also that the rows are in
  // the variable.
  virtual void apply_rows(Hyperparameters values, VariableState& state,
                          std::span<const SparseGradient> gradients, Device& device,
                          Team* team) const = 0;
};

// The optimizers that a task knows, by name. Immutable, thread-safe.
class OptimizerLibrary {
 public:
  // The built-in ones and these, which must outlive the library. Throws already_exists for two of one
  // name.
  explicit OptimizerLibrary(std::span<const OptimizerRule* const> own);

  // Throws not_found with the known names.
  const OptimizerRule& at(std::string_view name) const;

 private:
  std::map<std::string_view, const OptimizerRule*> rules_;
};

std::span<const OptimizerRule* const> builtin_optimizer_rules();
// The library with the built-in optimizers only.
const OptimizerLibrary& builtin_optimizers();

// An optimizer's values and the rule that applies them.
struct BoundOptimizer {
  // Throws not_found for an unknown name and invalid_argument for values that do not fit.
  BoundOptimizer(Optimizer chosen, const OptimizerLibrary& library = builtin_optimizers());  // NOLINT
  template <DescribedOptimizer O>
  BoundOptimizer(const O& o) : BoundOptimizer(Optimizer(o)) {}  // NOLINT: implicit: a built-in one

  Optimizer optimizer;
  const OptimizerRule* rule;
};

// For rules that compute on CPUs only: calls update() with the state and gradients of a GPU on the host,
// and brings the new state back.
void update_by_way_of_host(
    VariableState& state, std::span<const Tensor> gradients, Device& device,
    const std::function<void(VariableState&, std::span<const Tensor>, Device&)>& update);
void update_rows_by_way_of_host(
    VariableState& state, std::span<const SparseGradient> gradients, Device& device,
    const std::function<void(VariableState&, std::span<const SparseGradient>, Device&)>& update);

}  // namespace actorflow

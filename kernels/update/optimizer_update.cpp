#include "kernels/update/optimizer_update.h"

#include <algorithm>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void check_same_type(const Tensor& expected, const Tensor& actual, const std::string& what) {
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape())
    throw invalid_argument(what + " must be " + expected.describe() + ", but it is " +
                           actual.describe());
}

Tensor filled(const Tensor& like, double value) {
  Tensor tensor = Tensor::allocate(like.dtype(), like.shape());
  if (like.dtype() == DType::float32)
    std::ranges::fill(tensor.mutable_values<float>(), static_cast<float>(value));
  else
    std::ranges::fill(tensor.mutable_values<double>(), value);
  return tensor;
}

// Throws invalid_argument unless the value is float32 or float64.
void check_floating(const Tensor& value) {
  if (!is_float32_or_64(value.dtype()))
    throw invalid_argument("optimizers work on float32 and float64, but got " + value.describe());
}

}  // namespace

void make_slots(const BoundOptimizer& optimizer, VariableState& state, Device& device) {
  check_floating(state.value);
  state.slots.clear();
  for (const auto name : optimizer.rule->slots())
    if (name == "step")
      state.slots.push_back(Tensor::scalar<std::int64_t>(0));
    else
      state.slots.push_back(device.to_device(filled(
          state.value, optimizer.rule->initial_slot(optimizer.optimizer.hyperparameters(), name))));
}

void check_state(const BoundOptimizer& optimizer, const VariableState& state) {
  check_floating(state.value);
  const auto slots = optimizer.rule->slots().size();
  if (state.slots.size() != slots)
    throw invalid_argument("optimizer " + optimizer.optimizer.name() + " needs " +
                           std::to_string(slots) + " slots, but the variable has " +
                           std::to_string(state.slots.size()) + "; was it made for another optimizer?");
}

void apply_gradient(const BoundOptimizer& optimizer, VariableState& state, const Tensor& gradient,
                    Device& device, Team* team) {
  apply_mean(optimizer, state, {&gradient, 1}, device, team);
}

void apply_mean(const BoundOptimizer& optimizer, VariableState& state, std::span<const Tensor> gradients,
                Device& device, Team* team) {
  check_state(optimizer, state);
  if (gradients.empty()) throw invalid_argument("the mean of no gradients was to be applied");
  for (const auto& gradient : gradients)
    check_same_type(state.value, gradient, "every gradient of this variable");
  optimizer.rule->apply(optimizer.optimizer.hyperparameters(), state, gradients, device, team);
}

}  // namespace actorflow

// Optimizers that compute each element of a variable by itself: one formula makes the dense update and
// that of rows, for float32 and float64, on CPUs, and on GPUs where nvcc compiles it. Elsewhere a
// variable on a GPU is updated by way of the host.
//
// The struct of the optimizer (dataflow/ops/optimizer.h) has a member template rule<T>(step), which
// makes the formula of update number `step`, counted from 1. That is a function object that takes the
// gradient and changes the value and the slots other than "step":
//
//   template <class T>
//   struct Rule {
//     T rate, keep;
//     ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& m) const {
//       m = keep * m + g;
//       value -= rate * (m > 0 ? T(1) : T(-1));
//     }
//   };
//   template <class T>
//   Rule<T> rule(std::int64_t) const { return {T(learning_rate), T(momentum)}; }
#pragma once

#include "kernels/update/dense_update.h"
#include "kernels/update/optimizer_rule.h"
#include "kernels/update/row_update.h"

namespace actorflow {
inline namespace ACTORFLOW_UPDATE_NAMESPACE {

template <DescribedOptimizer O>
class ElementwiseOptimizer final : public OptimizerRule {
 public:
  std::string_view name() const override { return O::name; }
  std::span<const std::string_view> slots() const override { return O::slots; }
  double initial_slot(Hyperparameters values, std::string_view slot) const override {
    if constexpr (requires(const O& o) { o.initial_slot(slot); })
      return described<O>(values).initial_slot(slot);
    else
      return 0;
  }
  void check(Hyperparameters values) const override { described<O>(values); }

  void apply(Hyperparameters values, VariableState& state, std::span<const Tensor> gradients,
             Device& device, Team* team) const override {
    if (device.type() == DeviceType::cuda && !detail::compiled_for_gpus)
      return update_by_way_of_host(state, gradients, device, [&](auto& here, auto some, Device& host) {
        apply(values, here, some, host, team);
      });
    const auto update = [&]<class T>() {
      detail::change_state<T>(described<O>(values), state, device,
                              [&](const auto& rule, const auto& places, auto parts) {
                                detail::update_places<T>(device, team, rule, gradients, places, parts);
                              });
    };
    with_type(state.value.dtype(), update);
  }

  void apply_each(std::span<VariableUpdate> updates, Device& device,
                  Team* team) const noexcept override {
#ifdef __CUDACC__
    if (device.type() == DeviceType::cuda) {
      detail::update_jointly<float, O>(updates, device);
      return detail::update_jointly<double, O>(updates, device);
    }
#endif
    OptimizerRule::apply_each(updates, device, team);
  }

  void apply_rows(Hyperparameters values, VariableState& state,
                  std::span<const SparseGradient> gradients, Device& device, Team* team) const override {
    if (device.type() == DeviceType::cuda && !detail::compiled_for_gpus)
      return update_rows_by_way_of_host(
          state, gradients, device,
          [&](auto& here, auto some, Device& host) { apply_rows(values, here, some, host, team); });
    const auto update = [&]<class T>() {
      detail::change_state<T>(
          described<O>(values), state, device, [&](const auto& rule, const auto& places, auto parts) {
            detail::update_rows<T>(device, team, rule, gradients, state.value.shape(), places, parts);
          });
    };
    with_type(state.value.dtype(), update);
  }

 private:
  template <class Body>
  static void with_type(DType dtype, const Body& body) {
    dtype == DType::float32 ? body.template operator()<float>() : body.template operator()<double>();
  }
};

// The rule of an optimizer struct; the same object each time.
template <DescribedOptimizer O>
const OptimizerRule& elementwise_optimizer() {
  static const ElementwiseOptimizer<O> rule;
  return rule;
}

}  // namespace ACTORFLOW_UPDATE_NAMESPACE
}  // namespace actorflow

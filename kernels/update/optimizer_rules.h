// The optimizers' formulas, one element at a time, for both kinds of device, for dense and row-sparse
// updates. Included by optimizer_update.cu and sparse_update.cu.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "dataflow/ops/optimizer.h"
#include "dataflow/values/error.h"
#include "kernels/devices/host_device.h"
#include "kernels/update/optimizer_update.h"

namespace actorflow {

// The rules. Each has the number of slots that it updates.
template <class T>
struct SgdRule {
  static constexpr std::size_t slots = 0;
  T learning_rate;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value) const { value -= learning_rate * g; }
};

template <class T>
struct MomentumRule {
  static constexpr std::size_t slots = 1;
  T learning_rate, momentum;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& a) const {
    a = momentum * a + g;
    value -= learning_rate * a;
  }
};

template <class T>
struct NesterovRule {
  static constexpr std::size_t slots = 1;
  T learning_rate, momentum;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& a) const {
    a = momentum * a + g;
    value -= learning_rate * g + learning_rate * momentum * a;
  }
};

template <class T>
struct AdagradRule {
  static constexpr std::size_t slots = 1;
  T learning_rate;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& a) const {
    a += g * g;
    value -= learning_rate * g / std::sqrt(a);
  }
};

template <class T>
struct AdamRule {
  static constexpr std::size_t slots = 2;
  T learning_rate, one_minus_beta1, one_minus_beta2, epsilon;  // the rate of this step
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& m, T& v) const {
    m += one_minus_beta1 * (g - m);
    v += one_minus_beta2 * (g * g - v);
    value -= learning_rate * m / (std::sqrt(v) + epsilon);
  }
};

template <class T>
struct RmsPropRule {
  static constexpr std::size_t slots = 2;
  T learning_rate, one_minus_decay, momentum, epsilon;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& s, T& a) const {
    s += one_minus_decay * (g * g - s);
    a = momentum * a + learning_rate * g / std::sqrt(s + epsilon);
    value -= a;
  }
};

// Makes the rule of a step; `step` counts from 1 and only Adam uses it.
template <class T>
auto rule_of(const Sgd& o, std::int64_t) {
  return SgdRule<T>{T(o.learning_rate)};
}
template <class T>
auto rule_of(const Momentum& o, std::int64_t) {
  return MomentumRule<T>{T(o.learning_rate), T(o.momentum)};
}
template <class T>
auto rule_of(const Nesterov& o, std::int64_t) {
  return NesterovRule<T>{T(o.learning_rate), T(o.momentum)};
}
template <class T>
auto rule_of(const Adagrad& o, std::int64_t) {
  return AdagradRule<T>{T(o.learning_rate)};
}
template <class T>
auto rule_of(const Adam& o, std::int64_t step) {
  const auto t = static_cast<double>(step);
  const double rate = o.learning_rate * std::sqrt(1 - std::pow(o.beta2, t)) / (1 - std::pow(o.beta1, t));
  return AdamRule<T>{T(rate), T(1 - o.beta1), T(1 - o.beta2), T(o.epsilon)};
}
template <class T>
auto rule_of(const RmsProp& o, std::int64_t) {
  return RmsPropRule<T>{T(o.learning_rate), T(1 - o.decay), T(o.momentum), T(o.epsilon)};
}

// The addresses at which the elements of one tensor of the state are read and written; they may be the
// same.
template <class T>
struct Place {
  const T* from;
  T* to;
};
// The places of the value and of its slots.
template <class T, std::size_t count>
using Places = std::array<Place<T>, count>;

// A tensor of the state during an update: changed in place if it has no other holder.
class StateChange {
 public:
  StateChange(Tensor& tensor, Device& device)
      : tensor_(tensor),
        target_(tensor.exclusive()
                    ? tensor
                    : Tensor::allocate(tensor.dtype(), tensor.shape(), device.allocator())) {}
  template <class T>
  Place<T> place() {
    return {static_cast<const T*>(tensor_.data()), static_cast<T*>(target_.mutable_data())};
  }
  void commit() { tensor_ = std::move(target_); }

 private:
  Tensor& tensor_;
  Tensor target_;
};

// Throws invalid_argument.
inline void check_floating(const Tensor& value) {
  if (!is_floating(value.dtype()))
    throw invalid_argument("optimizers work on float32 and float64, but got " + value.describe());
}

// Throws invalid_argument unless the value is floating and the slots are this optimizer's.
inline void check_state(const Optimizer& optimizer, const VariableState& state) {
  check_floating(state.value);
  const auto names = slot_names(optimizer);
  if (state.slots.size() != names.size())
    throw invalid_argument("optimizer " + std::string(optimizer_name(optimizer)) + " needs " +
                           std::to_string(names.size()) + " slots, but the variable has " +
                           std::to_string(state.slots.size()) + "; was it made for another optimizer?");
}

// Calls update(rule, places, std::index_sequence for the places) for one step of the optimizer.
// Allocates all memory first; if `update` throws before it has changed anything, the state is unchanged.
template <class T, class O, class Update>
void change_state(const O& optimizer, VariableState& state, Device& device, const Update& update) {
  std::int64_t step = 1;
  if constexpr (std::is_same_v<O, Adam>) step += state.slots.back().template scalar<std::int64_t>();
  const auto rule = rule_of<T>(optimizer, step);
  constexpr auto change_all = []<std::size_t... slot>(auto& s, Device& d, std::index_sequence<slot...>) {
    return std::array{StateChange(s.value, d), StateChange(s.slots[slot], d)...};
  };
  constexpr std::size_t slots = decltype(rule)::slots;
  auto changes = change_all(state, device, std::make_index_sequence<slots>());
  Places<T, slots + 1> places;
  for (std::size_t i = 0; i < changes.size(); ++i) places[i] = changes[i].template place<T>();
  Tensor next_step;
  if constexpr (std::is_same_v<O, Adam>) next_step = Tensor::scalar(step);
  update(rule, places, std::make_index_sequence<slots + 1>());
  for (auto& change : changes) change.commit();
  if constexpr (std::is_same_v<O, Adam>) state.slots.back() = std::move(next_step);
}

// Calls body.template operator()<T>(o) with the value's C++ type and the optimizer's own struct.
template <class Body>
void with_optimizer(const Optimizer& optimizer, DType dtype, const Body& body) {
  std::visit(
      [&](const auto& o) {
        if (dtype == DType::float32)
          body.template operator()<float>(o);
        else
          body.template operator()<double>(o);
      },
      optimizer);
}

// The shares of [0, size) for the threads of an update of that many elements.
inline Shares update_shares(std::int64_t size, std::int64_t elements) {
  constexpr std::int64_t worth_sharing = 1 << 16, elements_per_share = 50'000, max_shares = 16;
  return {size, elements < worth_sharing ? 1 : elements / elements_per_share, max_shares};
}

}  // namespace actorflow

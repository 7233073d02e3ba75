// The state of a variable during an update, for elementwise_optimizer.h.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "kernels/devices/host_device.h"
#include "kernels/update/optimizer_rule.h"

// The namespace of templates that nvcc compiles otherwise than other compilers: of one program's files
// some know GPUs and some do not, and the linker would keep either's functions for all.
#ifdef __CUDACC__
#define ACTORFLOW_UPDATE_NAMESPACE for_gpus_too
#else
#define ACTORFLOW_UPDATE_NAMESPACE for_cpus
#endif

namespace actorflow::detail {

inline namespace ACTORFLOW_UPDATE_NAMESPACE {
#ifdef __CUDACC__
inline constexpr bool compiled_for_gpus = true;
#else
inline constexpr bool compiled_for_gpus = false;
#endif
}  // namespace ACTORFLOW_UPDATE_NAMESPACE

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

// Whether the optimizer counts its updates in a last slot "step".
template <class O>
constexpr bool counts_steps() {
  if constexpr (O::slots.size() > 0)
    return O::slots.back() == "step";
  else
    return false;
}

// One step of an optimizer on the state of a variable: what is to be computed, by rule(), and where. All
// memory is allocated at first. Before the elements are computed the state is unchanged; commit() makes
// it the new one.
template <class T, class O>
class StateUpdate {
  static constexpr std::size_t slots = O::slots.size() - (counts_steps<O>() ? 1 : 0);

 public:
  using Rule = decltype(std::declval<const O&>().template rule<T>(1));
  using Parts = std::make_index_sequence<slots + 1>;

  StateUpdate(const O& optimizer, VariableState& state, Device& device)
      : state_(state),
        rule_(optimizer.template rule<T>(number_of(state))),
        changes_(change_all(state, device, std::make_index_sequence<slots>())) {
    for (std::size_t i = 0; i < changes_.size(); ++i) places_[i] = changes_[i].template place<T>();
    if constexpr (counts_steps<O>()) next_step_ = Tensor::scalar(number_of(state));
  }

  const Rule& rule() const { return rule_; }
  const Places<T, slots + 1>& places() const { return places_; }
  void commit() {
    for (auto& change : changes_) change.commit();
    if constexpr (counts_steps<O>()) state_.slots.back() = std::move(next_step_);
  }

 private:
  static std::int64_t number_of(const VariableState& state) {
    if constexpr (counts_steps<O>()) return state.slots.back().template scalar<std::int64_t>() + 1;
    return 1;
  }
  template <std::size_t... slot>
  static std::array<StateChange, slots + 1> change_all(VariableState& state, Device& device,
                                                       std::index_sequence<slot...>) {
    return {StateChange(state.value, device), StateChange(state.slots[slot], device)...};
  }

  VariableState& state_;
  Rule rule_;
  std::array<StateChange, slots + 1> changes_;
  Places<T, slots + 1> places_;
  Tensor next_step_;
};

// Calls update(rule, places, std::index_sequence for the places) for one step of the optimizer. If
// `update` throws before it has changed anything, the state is unchanged.
template <class T, class O, class Update>
void change_state(const O& optimizer, VariableState& state, Device& device, const Update& update) {
  StateUpdate<T, O> change(optimizer, state, device);
  update(change.rule(), change.places(), typename StateUpdate<T, O>::Parts());
  change.commit();
}

// The shares of [0, size) for the threads of an update of that many elements.
inline Shares update_shares(std::int64_t size, std::int64_t elements) {
  constexpr std::int64_t worth_sharing = 1 << 16, elements_per_share = 50'000, max_shares = 16;
  return {size, elements < worth_sharing ? 1 : elements / elements_per_share, max_shares};
}

}  // namespace actorflow::detail

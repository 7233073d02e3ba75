// The state of a variable during an update, for elementwise_optimizer.h.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "kernels/devices/host_device.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow::detail {

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

// Calls update(rule, places, std::index_sequence for the places) for one step of the optimizer.
// Allocates all memory first; if `update` throws before it has changed anything, the state is unchanged.
template <class T, class O, class Update>
void change_state(const O& optimizer, VariableState& state, Device& device, const Update& update) {
  std::int64_t step = 1;
  if constexpr (counts_steps<O>()) step += state.slots.back().template scalar<std::int64_t>();
  const auto rule = optimizer.template rule<T>(step);
  constexpr auto change_all = []<std::size_t... slot>(auto& s, Device& d, std::index_sequence<slot...>) {
    return std::array{StateChange(s.value, d), StateChange(s.slots[slot], d)...};
  };
  constexpr std::size_t slots = O::slots.size() - (counts_steps<O>() ? 1 : 0);
  auto changes = change_all(state, device, std::make_index_sequence<slots>());
  Places<T, slots + 1> places;
  for (std::size_t i = 0; i < changes.size(); ++i) places[i] = changes[i].template place<T>();
  Tensor next_step;
  if constexpr (counts_steps<O>()) next_step = Tensor::scalar(step);
  update(rule, places, std::make_index_sequence<slots + 1>());
  for (auto& change : changes) change.commit();
  if constexpr (counts_steps<O>()) state.slots.back() = std::move(next_step);
}

// The shares of [0, size) for the threads of an update of that many elements.
inline Shares update_shares(std::int64_t size, std::int64_t elements) {
  constexpr std::int64_t worth_sharing = 1 << 16, elements_per_share = 50'000, max_shares = 16;
  return {size, elements < worth_sharing ? 1 : elements / elements_per_share, max_shares};
}

}  // namespace actorflow::detail

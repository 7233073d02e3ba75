#include "kernels/optimizer_update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "dataflow/error.h"
#include "kernels/host_device.h"
#include "kernels/vectorised.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/cuda_device.h"
#endif

namespace actorflow {
namespace {

// The formulas, one element at a time, for both kinds of device, and how many slots they update.

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

// `step` counts from 1; only Adam asks.
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

double initial_slot(const Optimizer& optimizer, std::string_view slot) {
  if (const auto* adagrad = std::get_if<Adagrad>(&optimizer)) return adagrad->initial_accumulator;
  return slot == "mean_square" ? 1 : 0;
}

// Where the elements of one tensor of the state are read and written: one place, or two.
template <class T>
struct Place {
  const T* from;
  T* to;
};
// The value's and its slots'.
template <class T, std::size_t count>
using Places = std::array<Place<T>, count>;

template <class T, class Rule, std::size_t... part>
void update_on_cpu(Rule rule, std::int64_t elements, const T* gradient,
                   Places<T, sizeof...(part)> places, std::index_sequence<part...>) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < elements; ++i) {
      T values[] = {places[part].from[i]...};
      rule(gradient[i], values[part]...);
      ((places[part].to[i] = values[part]), ...);
    }
  });
}

// mean = (gradients[0] + gradients[1] + ...) / their number, for `count` elements from `first`.
template <class T>
void mean_on_cpu(std::span<const Tensor> gradients, std::int64_t first, std::int64_t count, T* mean) {
  const auto divisor = static_cast<T>(gradients.size());
  std::copy_n(static_cast<const T*>(gradients[0].data()) + first, count, mean);
  for (const auto& tensor : gradients.subspan(1)) {
    const T* gradient = static_cast<const T*>(tensor.data()) + first;
    vectorised([=] {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) mean[i] += gradient[i];
    });
  }
  vectorised([=] {
    for (std::int64_t i = 0; i < count; ++i) mean[i] /= divisor;
  });
}

// The elements from `first` to `last`. The mean of a block stays in the first-level cache until it is
// applied.
template <class T, class Rule, std::size_t... part>
void update_range_on_cpu(const Rule& rule, std::span<const Tensor> gradients, std::int64_t first,
                         std::int64_t last, const Places<T, sizeof...(part)>& places,
                         std::index_sequence<part...> parts) {
  constexpr std::int64_t block = 1024;
  T mean[block];
  const bool alone = gradients.size() == 1;
  for (std::int64_t count = 0; first < last; first += count) {
    count = alone ? last - first : std::min(block, last - first);
    const T* gradient = static_cast<const T*>(gradients[0].data()) + first;
    if (!alone) mean_on_cpu(gradients, first, count, mean);
    update_on_cpu<T>(rule, count, alone ? gradient : mean,
                     {Place<T>{places[part].from + first, places[part].to + first}...}, parts);
  }
}

#ifdef ACTORFLOW_CUDA

template <class T>
__device__ T& carry(Place<T> place, std::int64_t i) {
  if (place.from != place.to) place.to[i] = place.from[i];
  return place.to[i];
}

template <class T>
Tensor mean_on_cuda(std::span<const Tensor> gradients, Device& device) {
  if (gradients.size() == 1) return gradients[0];
  Tensor mean = Tensor::allocate(dtype_of<T>, gradients[0].shape(), device.allocator());
  auto* output = static_cast<T*>(mean.mutable_data());
  const auto* sum = static_cast<const T*>(gradients[0].data());
  for (std::size_t next = 1; next < gradients.size(); ++next) {
    const auto* gradient = static_cast<const T*>(gradients[next].data());
    const T divisor = next + 1 == gradients.size() ? static_cast<T>(gradients.size()) : T(1);
    launch(device, mean.elements(),
           [=] __device__(std::int64_t i) { output[i] = (sum[i] + gradient[i]) / divisor; });
    sum = output;
  }
  return mean;
}

template <class T, class Rule, std::size_t... part>
void update_on_cuda(Device& device, const Rule& rule, std::span<const Tensor> gradients,
                    const Places<T, sizeof...(part)>& places, std::index_sequence<part...>) {
  const Tensor mean = mean_on_cuda<T>(gradients, device);
  const auto* gradient = static_cast<const T*>(mean.data());
  launch(device, mean.elements(),
         [=] __device__(std::int64_t i) { rule(gradient[i], carry(places[part], i)...); });
}

#endif

void check_floating(const Tensor& value) {
  if (!is_floating(value.dtype()))
    throw invalid_argument("optimizers work on float32 and float64, but got " + value.describe());
}

void check_same_type(const Tensor& expected, const Tensor& actual, const std::string& what) {
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape())
    throw invalid_argument(what + " must be " + expected.describe() + ", but it is " +
                           actual.describe());
}

void check_state(const Optimizer& optimizer, const VariableState& state,
                 std::span<const Tensor> gradients) {
  check_floating(state.value);
  if (gradients.empty()) throw invalid_argument("the mean of no gradients was to be applied");
  for (const auto& gradient : gradients)
    check_same_type(state.value, gradient, "every gradient of this variable");
  const auto names = slot_names(optimizer);
  if (state.slots.size() != names.size())
    throw invalid_argument("optimizer " + std::string(optimizer_name(optimizer)) + " needs " +
                           std::to_string(names.size()) + " slots, but the variable has " +
                           std::to_string(state.slots.size()) + "; was it made for another optimizer?");
}

// A tensor of the state while it changes: it stays in place if nobody else holds it.
class Change {
 public:
  Change(Tensor& tensor, Device& device)
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

// Each element is computed by itself: how the work is shared changes no bit.
template <class T, class Rule, class Parts, std::size_t count>
void update_places([[maybe_unused]] Device& device, Team* team, const Rule& rule,
                   std::span<const Tensor> gradients, const Places<T, count>& places, Parts parts) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda)
    return update_on_cuda<T>(device, rule, gradients, places, parts);
#endif
  constexpr std::int64_t worth_sharing = 1 << 16, elements_per_share = 50'000, max_shares = 16;
  const std::int64_t elements = gradients[0].elements();
  const auto update_share = [&](std::int64_t share, std::int64_t shares) {
    update_range_on_cpu<T>(rule, gradients, elements * share / shares, elements * (share + 1) / shares,
                           places, parts);
  };
  if (!team || elements < worth_sharing) return update_share(0, 1);
  const std::int64_t shares = std::min(elements / elements_per_share, max_shares);
  team->run(static_cast<int>(shares), [&](int share) { update_share(share, shares); });
}

// Takes all memory before it changes anything.
template <class T, class Rule, std::size_t... part>
void update(Device& device, Team* team, const Rule& rule,
            const std::array<Tensor*, sizeof...(part)>& state, std::span<const Tensor> gradients,
            std::index_sequence<part...> parts) {
  std::array<Change, sizeof...(part)> changes{Change(*state[part], device)...};
  const Places<T, sizeof...(part)> places{changes[part].template place<T>()...};
  update_places<T>(device, team, rule, gradients, places, parts);
  for (auto& change : changes) change.commit();
}

template <class T, class O>
void apply(const O& optimizer, VariableState& state, std::span<const Tensor> gradients, Device& device,
           Team* team) {
  std::int64_t step = 1;
  if constexpr (std::is_same_v<O, Adam>) step += state.slots.back().template scalar<std::int64_t>();
  const auto rule = rule_of<T>(optimizer, step);
  constexpr std::size_t slots = decltype(rule)::slots;
  std::array<Tensor*, slots + 1> parts{&state.value};
  for (std::size_t i = 1; i < parts.size(); ++i) parts[i] = &state.slots[i - 1];
  update<T>(device, team, rule, parts, gradients, std::make_index_sequence<slots + 1>());
  if constexpr (std::is_same_v<O, Adam>) state.slots.back() = Tensor::scalar(step);
}

Tensor filled(const Tensor& like, double value) {
  Tensor tensor = Tensor::allocate(like.dtype(), like.shape());
  if (like.dtype() == DType::float32)
    std::ranges::fill(tensor.mutable_values<float>(), static_cast<float>(value));
  else
    std::ranges::fill(tensor.mutable_values<double>(), value);
  return tensor;
}

}  // namespace

void make_slots(const Optimizer& optimizer, VariableState& state, Device& device) {
  check_floating(state.value);
  state.slots.clear();
  for (const auto name : slot_names(optimizer))
    if (name == "step")
      state.slots.push_back(Tensor::scalar<std::int64_t>(0));
    else
      state.slots.push_back(device.to_device(filled(state.value, initial_slot(optimizer, name))));
}

void apply_gradient(const Optimizer& optimizer, VariableState& state, const Tensor& gradient,
                    Device& device, Team* team) {
  apply_mean(optimizer, state, {&gradient, 1}, device, team);
}

void apply_mean(const Optimizer& optimizer, VariableState& state, std::span<const Tensor> gradients,
                Device& device, Team* team) {
  check_state(optimizer, state, gradients);
  std::visit(
      [&](const auto& o) {
        if (state.value.dtype() == DType::float32)
          apply<float>(o, state, gradients, device, team);
        else
          apply<double>(o, state, gradients, device, team);
      },
      optimizer);
}

}  // namespace actorflow

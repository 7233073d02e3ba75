#include "kernels/optimizer_update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "dataflow/error.h"
#include "kernels/host_device.h"
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

// Small enough for the copied part of a few tensors to stay in the first-level cache.
constexpr std::int64_t block_elements = 1024;

template <class T, class Rule, class... Part>
void update_block(const Rule& rule, std::int64_t count, const T* __restrict gradient,
                  Part* __restrict... parts) {
  for (std::int64_t i = 0; i < count; ++i) rule(gradient[i], parts[i]...);
}

template <class T, class Rule, std::size_t... part>
void update_on_cpu(const Rule& rule, std::int64_t elements, const T* gradient,
                   const Places<T, sizeof...(part)>& places, std::index_sequence<part...>) {
  for (std::int64_t first = 0; first < elements; first += block_elements) {
    const std::int64_t count = std::min(block_elements, elements - first);
    for (const auto& place : places)
      if (place.from != place.to) std::copy_n(place.from + first, count, place.to + first);
    update_block(rule, count, gradient + first, (places[part].to + first)...);
  }
}

template <class T>
void add_block(std::int64_t count, const T* __restrict from, T* __restrict sum) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] += from[i];
}

template <class T>
void mean_on_cpu(std::span<const Tensor> gradients, Tensor& mean) {
  const std::int64_t elements = mean.elements();
  const auto divisor = static_cast<T>(gradients.size());
  auto* sum = static_cast<T*>(mean.mutable_data());
  for (std::int64_t first = 0; first < elements; first += block_elements, sum += block_elements) {
    const std::int64_t count = std::min(block_elements, elements - first);
    std::copy_n(static_cast<const T*>(gradients[0].data()) + first, count, sum);
    for (const auto& gradient : gradients.subspan(1))
      add_block(count, static_cast<const T*>(gradient.data()) + first, sum);
    for (std::int64_t i = 0; i < count; ++i) sum[i] /= divisor;
  }
}

#ifdef ACTORFLOW_CUDA

template <class T>
__device__ T& carry(Place<T> place, std::int64_t i) {
  if (place.from != place.to) place.to[i] = place.from[i];
  return place.to[i];
}

template <class T, class Rule, std::size_t... part>
void update_on_cuda(Device& device, const Rule& rule, std::int64_t elements, const T* gradient,
                    const Places<T, sizeof...(part)>& places, std::index_sequence<part...>) {
  launch(device, elements,
         [=] __device__(std::int64_t i) { rule(gradient[i], carry(places[part], i)...); });
}

template <class T>
void mean_on_cuda(std::span<const Tensor> gradients, Tensor& mean, Device& device) {
  auto* output = static_cast<T*>(mean.mutable_data());
  const auto* sum = static_cast<const T*>(gradients[0].data());
  for (std::size_t next = 1; next < gradients.size(); ++next) {
    const auto* gradient = static_cast<const T*>(gradients[next].data());
    const T divisor = next + 1 == gradients.size() ? static_cast<T>(gradients.size()) : T(1);
    launch(device, mean.elements(),
           [=] __device__(std::int64_t i) { output[i] = (sum[i] + gradient[i]) / divisor; });
    sum = output;
  }
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

void check_state(const Optimizer& optimizer, const VariableState& state, const Tensor& gradient) {
  check_floating(state.value);
  check_same_type(state.value, gradient, "the gradient of this variable");
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

template <class T>
void run_mean(std::span<const Tensor> gradients, Tensor& mean, [[maybe_unused]] Device& device) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return mean_on_cuda<T>(gradients, mean, device);
#endif
  mean_on_cpu<T>(gradients, mean);
}

// Takes all memory before it changes anything.
template <class T, class Rule, std::size_t... part>
void update(Device& device, const Rule& rule, const std::array<Tensor*, sizeof...(part)>& state,
            const Tensor& gradient, std::index_sequence<part...> parts) {
  std::array<Change, sizeof...(part)> changes{Change(*state[part], device)...};
  const Places<T, sizeof...(part)> places{changes[part].template place<T>()...};
  const auto* g = static_cast<const T*>(gradient.data());
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda)
    update_on_cuda(device, rule, gradient.elements(), g, places, parts);
  else
#endif
    update_on_cpu(rule, gradient.elements(), g, places, parts);
  for (auto& change : changes) change.commit();
}

template <class T, class O>
void apply(const O& optimizer, VariableState& state, const Tensor& gradient, Device& device) {
  Tensor step = Tensor::scalar<std::int64_t>(1);
  if constexpr (std::is_same_v<O, Adam>)
    step.mutable_values<std::int64_t>()[0] += state.slots.back().template scalar<std::int64_t>();
  const auto rule = rule_of<T>(optimizer, step.scalar<std::int64_t>());
  constexpr std::size_t slots = decltype(rule)::slots;
  std::array<Tensor*, slots + 1> parts{&state.value};
  for (std::size_t i = 1; i < parts.size(); ++i) parts[i] = &state.slots[i - 1];
  update<T>(device, rule, parts, gradient, std::make_index_sequence<slots + 1>());
  if constexpr (std::is_same_v<O, Adam>) state.slots.back() = std::move(step);
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
                    Device& device) {
  check_state(optimizer, state, gradient);
  std::visit(
      [&](const auto& o) {
        if (gradient.dtype() == DType::float32)
          apply<float>(o, state, gradient, device);
        else
          apply<double>(o, state, gradient, device);
      },
      optimizer);
}

Tensor mean_of(std::span<const Tensor> gradients, Device& device) {
  if (gradients.empty()) throw invalid_argument("the mean of no gradients was asked for");
  check_floating(gradients[0]);
  for (const auto& gradient : gradients)
    check_same_type(gradients[0], gradient, "every gradient of a mean");
  if (gradients.size() == 1) return gradients[0];
  Tensor mean = Tensor::allocate(gradients[0].dtype(), gradients[0].shape(), device.allocator());
  if (mean.dtype() == DType::float32)
    run_mean<float>(gradients, mean, device);
  else
    run_mean<double>(gradients, mean, device);
  return mean;
}

}  // namespace actorflow

#include "kernels/update/optimizer_update.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dataflow/values/error.h"
#include "kernels/loops/vectorised.h"
#include "kernels/update/optimizer_rules.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

double initial_slot(const Optimizer& optimizer, std::string_view slot) {
  if (const auto* adagrad = std::get_if<Adagrad>(&optimizer)) return adagrad->initial_accumulator;
  return slot == "mean_square" ? 1 : 0;
}

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

void check_same_type(const Tensor& expected, const Tensor& actual, const std::string& what) {
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape())
    throw invalid_argument(what + " must be " + expected.describe() + ", but it is " +
                           actual.describe());
}

// Each element is computed by itself: how the work is shared changes no bit.
template <class T, class Rule, class Parts, std::size_t count>
void update_places([[maybe_unused]] Device& device, Team* team, const Rule& rule,
                   std::span<const Tensor> gradients, const Places<T, count>& places, Parts parts) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda)
    return update_on_cuda<T>(device, rule, gradients, places, parts);
#endif
  const std::int64_t elements = gradients[0].elements();
  share_out(team, update_shares(elements, elements), [&](std::int64_t first, std::int64_t last) {
    update_range_on_cpu<T>(rule, gradients, first, last, places, parts);
  });
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
  check_state(optimizer, state);
  if (gradients.empty()) throw invalid_argument("the mean of no gradients was to be applied");
  for (const auto& gradient : gradients)
    check_same_type(state.value, gradient, "every gradient of this variable");
  with_optimizer(optimizer, state.value.dtype(), [&]<class T>(const auto& o) {
    change_state<T>(o, state, device, [&](const auto& rule, const auto& places, auto parts) {
      update_places<T>(device, team, rule, gradients, places, parts);
    });
  });
}

}  // namespace actorflow

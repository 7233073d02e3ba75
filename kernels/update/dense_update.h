// Updates of whole variables, element by element, for elementwise_optimizer.h.
#pragma once

#include <algorithm>

#include "kernels/loops/vectorised.h"
#include "kernels/update/state_change.h"

namespace actorflow::detail {

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

#ifdef __CUDACC__

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

inline namespace ACTORFLOW_UPDATE_NAMESPACE {

// Each element is computed by itself: how the work is shared changes no bit.
template <class T, class Rule, class Parts, std::size_t count>
void update_places([[maybe_unused]] Device& device, Team* team, const Rule& rule,
                   std::span<const Tensor> gradients, const Places<T, count>& places, Parts parts) {
#ifdef __CUDACC__
  if (device.type() == DeviceType::cuda)
    return update_on_cuda<T>(device, rule, gradients, places, parts);
#endif
  const std::int64_t elements = gradients[0].elements();
  share_out(team, update_shares(elements, elements), [&](std::int64_t first, std::int64_t last) {
    update_range_on_cpu<T>(rule, gradients, first, last, places, parts);
  });
}

}  // namespace ACTORFLOW_UPDATE_NAMESPACE
}  // namespace actorflow::detail

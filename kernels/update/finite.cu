#include "kernels/update/finite.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <span>

#include "dataflow/values/check.h"
#include "kernels/loops/vectorised.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

// Without a branch and in 32 bits, so that it is vectorised.
template <class T>
std::int64_t count(std::span<const T> values) {
  std::int32_t not_finite = 0;
  vectorised([data = values.data(), size = values.size(), result = &not_finite] {
    std::int32_t bad = 0;
    for (std::size_t i = 0; i < size; ++i) bad += !(std::abs(data[i]) <= std::numeric_limits<T>::max());
    *result = bad;
  });
  return not_finite;
}

template <class T>
std::int64_t count(std::span<const T> values, Team* team) {
  constexpr std::int64_t elements_per_share = 1 << 16;
  // No limit: a share must not have more elements than the 32 bits can count.
  const std::int64_t wanted = (std::ssize(values) + elements_per_share - 1) / elements_per_share;
  const Shares shares(std::ssize(values), wanted, std::numeric_limits<int>::max());
  std::atomic<std::int64_t> total = 0;
  share_out(team, shares, [&](std::int64_t begin, std::int64_t end) {
    total +=
        count(values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  });
  return total;
}

#ifdef ACTORFLOW_CUDA

// Threads add to one number, but only those that have found something.
template <class T>
std::int64_t count_on_cuda(const Tensor& tensor, Device& device) {
  const auto* values = static_cast<const T*>(tensor.data());
  Tensor total = Tensor::allocate(DType::int64, {}, device.allocator());
  auto* sum = static_cast<unsigned long long*>(total.mutable_data());
  check_cuda(cudaMemsetAsync(sum, 0, total.size_bytes(), cuda_stream(device)), "clear a count");
  launch(device, tensor.elements(), [=] __device__(std::int64_t i) {
    if (!(std::abs(values[i]) <= std::numeric_limits<T>::max())) atomicAdd(sum, 1ULL);
  });
  return device.to_host(total).scalar<std::int64_t>();
}

#endif

template <class T>
std::int64_t count(const Tensor& tensor, [[maybe_unused]] Device& device, Team* team) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return count_on_cuda<T>(tensor, device);
#endif
  ACTORFLOW_CHECK(tensor.on_host(), tensor.describe());
  return count(tensor.values<T>(), team);
}

}  // namespace

std::int64_t count_not_finite(const Tensor& tensor, Device& device, Team* team) {
  if (tensor.dtype() == DType::float32) return count<float>(tensor, device, team);
  if (tensor.dtype() == DType::float64) return count<double>(tensor, device, team);
  return 0;
}

}  // namespace actorflow

#include "kernels/update/finite.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "dataflow/values/check.h"
#include "kernels/devices/host_device.h"
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

bool are_indices(const Suspect& suspect) {
  return suspect.rows && suspect.tensor.dtype() == DType::int64;
}

ACTORFLOW_HOST_DEVICE bool is_out_of_range(std::int64_t index, std::int64_t rows) {
  return index < 0 || index >= rows;
}

std::int64_t count_on_cpu(const Suspect& suspect, Team* team) {
  const Tensor& tensor = suspect.tensor;
  ACTORFLOW_CHECK(tensor.on_host(), tensor.describe());
  if (are_indices(suspect))
    return std::ranges::count_if(tensor.values<std::int64_t>(), [&](std::int64_t index) {
      return is_out_of_range(index, *suspect.rows);
    });
  if (tensor.dtype() == DType::float32) return count(tensor.values<float>(), team);
  if (tensor.dtype() == DType::float64) return count(tensor.values<double>(), team);
  return 0;
}

#ifdef ACTORFLOW_CUDA

// Some tensors, as an argument of a kernel.
struct TensorTable {
  static constexpr std::size_t most = 64;
  enum class Kind : std::uint8_t { float32, float64, indices };
  struct Entry {
    const void* data;
    std::int64_t elements;
    Kind kind;
    std::int64_t rows;  // of indices
  };
  Entry entries[most];
};

template <class T>
__device__ bool is_finite(T x) {
  return std::abs(x) <= std::numeric_limits<T>::max();
}

__device__ bool is_bad(const TensorTable::Entry& tensor, std::int64_t i) {
  switch (tensor.kind) {
    case TensorTable::Kind::float64:
      return !is_finite(static_cast<const double*>(tensor.data)[i]);
    case TensorTable::Kind::indices:
      return is_out_of_range(static_cast<const std::int64_t*>(tensor.data)[i], tensor.rows);
    default:
      return !is_finite(static_cast<const float*>(tensor.data)[i]);
  }
}

// counts[i] += the bad elements of tensor i, for i = blockIdx.y. Threads add to one number, but only
// those that have found something.
__global__ void __launch_bounds__(cuda_block_threads)
    count_in_tensors(const __grid_constant__ TensorTable table, unsigned long long* counts) {
  const TensorTable::Entry& tensor = table.entries[blockIdx.y];
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned long long bad = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < tensor.elements; i += step)
    bad += is_bad(tensor, i);
  if (bad > 0) atomicAdd(&counts[blockIdx.y], bad);
}

// Nothing is counted in a tensor of another type.
TensorTable::Entry entry_of(const Suspect& suspect) {
  using Kind = TensorTable::Kind;
  const Tensor& tensor = suspect.tensor;
  if (are_indices(suspect)) return {tensor.data(), tensor.elements(), Kind::indices, *suspect.rows};
  const std::int64_t counted = is_float32_or_64(tensor.dtype()) ? tensor.elements() : 0;
  return {tensor.data(), counted, tensor.dtype() == DType::float64 ? Kind::float64 : Kind::float32, 0};
}

// Of at most TensorTable::most tensors.
void launch_count(Device& device, std::span<const Suspect> suspects, unsigned long long* counts) {
  constexpr std::int64_t elements_per_block = 8 * cuda_block_threads, most_blocks = 1024;
  TensorTable table{};
  std::int64_t most_elements = 1;
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    table.entries[i] = entry_of(suspects[i]);
    most_elements = std::max(most_elements, table.entries[i].elements);
  }
  const auto blocks = std::min((most_elements - 1) / elements_per_block + 1, most_blocks);
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(suspects.size()));
  count_in_tensors<<<grid, cuda_block_threads, 0, cuda_stream(device)>>>(table, counts);
  check_cuda(cudaGetLastError(), "launch a count of bad elements");
}

std::vector<std::int64_t> count_on_cuda(std::span<const Suspect> suspects, Device& device) {
  Tensor counts = Tensor::allocate(DType::int64, {std::ssize(suspects)}, device.allocator());
  auto* const sums = static_cast<unsigned long long*>(counts.mutable_data());
  check_cuda(cudaMemsetAsync(sums, 0, counts.size_bytes(), cuda_stream(device)), "clear counts");
  for (std::size_t first = 0; first < suspects.size(); first += TensorTable::most)
    launch_count(device, suspects.subspan(first, std::min(TensorTable::most, suspects.size() - first)),
                 sums + first);
  const Tensor on_host = device.to_host(counts);
  const auto values = on_host.values<std::int64_t>();
  return {values.begin(), values.end()};
}

#endif

}  // namespace

std::vector<std::int64_t> count_bad(std::span<const Suspect> suspects, [[maybe_unused]] Device& device,
                                    Team* team) {
  if (suspects.empty()) return {};
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return count_on_cuda(suspects, device);
#endif
  std::vector<std::int64_t> counts;
  for (const Suspect& suspect : suspects) counts.push_back(count_on_cpu(suspect, team));
  return counts;
}

std::vector<std::int64_t> count_not_finite(std::span<const Tensor> tensors, Device& device, Team* team) {
  std::vector<Suspect> suspects;
  for (const Tensor& tensor : tensors) suspects.push_back({tensor, std::nullopt});
  return count_bad(suspects, device, team);
}

std::int64_t count_not_finite(const Tensor& tensor, Device& device, Team* team) {
  return count_not_finite({&tensor, 1}, device, team).front();
}

}  // namespace actorflow

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

constexpr int elements_per_thread = 8;
constexpr std::int64_t elements_per_block = elements_per_thread * cuda_block_threads;

// Some tensors, as an argument of a kernel. Each has as many blocks as it has elements for: one of them
// may be a thousand times as large as the others.
struct TensorTable {
  static constexpr int most = 64;
  enum class Kind : std::uint8_t { float32, float64, indices };
  struct Entry {
    const void* data;
    std::int64_t elements;
    std::int64_t rows;         // of indices
    std::int64_t first_block;  // of this tensor
    Kind kind;
  };
  Entry entries[most];
  int tensors;
};

// The last tensor whose blocks begin at this one or before it.
__device__ int tensor_of_block(const TensorTable& table) {
  int last = 0;
  for (int step = TensorTable::most / 2; step > 0; step /= 2)
    if (last + step < table.tensors && table.entries[last + step].first_block <= blockIdx.x)
      last += step;
  return last;
}

// Of a thread's elements, from `first` on.
template <class T, class IsBad>
__device__ unsigned long long count_of_thread(const T* data, std::int64_t first, std::int64_t elements,
                                              IsBad is_bad) {
  unsigned long long bad = 0;
#pragma unroll
  for (int k = 0; k < elements_per_thread; ++k)
    if (const std::int64_t i = first + k * cuda_block_threads; i < elements) bad += is_bad(data[i]);
  return bad;
}

struct IsNotFinite {
  template <class T>
  __device__ bool operator()(T x) const {
    return !(std::abs(x) <= std::numeric_limits<T>::max());
  }
};

__device__ unsigned long long count_of_thread(const TensorTable::Entry& tensor, std::int64_t first) {
  using Kind = TensorTable::Kind;
  const std::int64_t elements = tensor.elements, rows = tensor.rows;
  if (tensor.kind == Kind::float32)
    return count_of_thread(static_cast<const float*>(tensor.data), first, elements, IsNotFinite());
  if (tensor.kind == Kind::float64)
    return count_of_thread(static_cast<const double*>(tensor.data), first, elements, IsNotFinite());
  return count_of_thread(static_cast<const std::int64_t*>(tensor.data), first, elements,
                         [=](std::int64_t index) { return is_out_of_range(index, rows); });
}

// counts[i] += the bad elements of tensor i. Threads add to one number, but only those that have found
// something.
__global__ void __launch_bounds__(cuda_block_threads)
    count_in_tensors(const __grid_constant__ TensorTable table, unsigned long long* counts) {
  const int tensor = tensor_of_block(table);
  const auto& entry = table.entries[tensor];
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) - entry.first_block;
  const auto bad = count_of_thread(entry, block * elements_per_block + threadIdx.x);
  if (bad > 0) atomicAdd(&counts[tensor], bad);
}

// Nothing is counted in a tensor of another type.
TensorTable::Entry entry_of(const Suspect& suspect, std::int64_t first_block) {
  using Kind = TensorTable::Kind;
  const Tensor& tensor = suspect.tensor;
  if (are_indices(suspect))
    return {tensor.data(), tensor.elements(), *suspect.rows, first_block, Kind::indices};
  const std::int64_t counted = is_float32_or_64(tensor.dtype()) ? tensor.elements() : 0;
  const Kind kind = tensor.dtype() == DType::float64 ? Kind::float64 : Kind::float32;
  return {tensor.data(), counted, 0, first_block, kind};
}

// Of at most TensorTable::most tensors.
void launch_count(Device& device, std::span<const Suspect> suspects, unsigned long long* counts) {
  TensorTable table{};
  table.tensors = static_cast<int>(suspects.size());
  std::int64_t blocks = 0;
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    table.entries[i] = entry_of(suspects[i], blocks);
    blocks += (table.entries[i].elements + elements_per_block - 1) / elements_per_block;
  }
  if (blocks == 0) return;
  count_in_tensors<<<static_cast<unsigned>(blocks), cuda_block_threads, 0, cuda_stream(device)>>>(
      table, counts);
  check_cuda(cudaGetLastError(), "launch a count of bad elements");
}

std::vector<std::int64_t> count_on_cuda(std::span<const Suspect> suspects, Device& device) {
  Tensor counts = Tensor::allocate(DType::int64, {std::ssize(suspects)}, device.allocator());
  auto* const sums = static_cast<unsigned long long*>(counts.mutable_data());
  check_cuda(cudaMemsetAsync(sums, 0, counts.size_bytes(), cuda_stream(device)), "clear counts");
  constexpr std::size_t most = TensorTable::most;
  for (std::size_t first = 0; first < suspects.size(); first += most)
    launch_count(device, suspects.subspan(first, std::min(most, suspects.size() - first)), sums + first);
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

std::int64_t count_not_finite(const Tensor& tensor, Device& device, Team* team) {
  const Suspect suspect{tensor, std::nullopt};
  return count_bad({&suspect, 1}, device, team).front();
}

}  // namespace actorflow

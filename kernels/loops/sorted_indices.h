// Indices sorted on the GPU: equal ones are neighbours, so their parts can be added in the order of
// their places, without atomic additions. For .cu files in a build with CUDA.
#pragma once

#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/devices/cuda_device.h"
#include "kernels/loops/sorted_runs.h"

namespace actorflow {

// Gives Thrust its temporary memory from the device's pool; the next user of that comes later on the
// same stream.
class PoolOfThrust {
 public:
  using value_type = char;

  explicit PoolOfThrust(Device& device) : device_(device) {}
  char* allocate(std::ptrdiff_t size_bytes) {
    buffers_.push_back(device_.allocator().allocate(static_cast<std::size_t>(size_bytes)));
    return static_cast<char*>(buffers_.back()->data());
  }
  void deallocate(char* data, std::size_t) {
    std::erase_if(buffers_, [data](const BufferRef& buffer) { return buffer->data() == data; });
  }

 private:
  Device& device_;
  std::vector<BufferRef> buffers_;
};

// The sorted indices as plain pointers, for kernels.
template <class Int>
struct SortedIndicesView {
  const Int* indices;  // ascending; those out of range are `nowhere`
  const Int* places;   // the original place of each; ascending among equal indices
  Int nowhere;

  ACTORFLOW_HOST_DEVICE bool begins_run(std::int64_t i) const {
    return actorflow::begins_run(indices, i);
  }
  // Behind the last index equal to that at `begin`, or `limit` if that comes first.
  ACTORFLOW_HOST_DEVICE std::int64_t end_of_run(std::int64_t begin, std::int64_t limit) const {
    return actorflow::end_of_run(indices, begin, limit);
  }
};

// Int is unsigned and holds the end of the range and the number of the indices.
template <class Int>
class SortedIndices {
 public:
  SortedIndices(Device& device, std::int64_t count, std::int64_t end)
      : indices_(device, count), places_(device, count), nowhere_(static_cast<Int>(end)) {}

  Int* indices() const { return indices_.data(); }
  Int* places() const { return places_.data(); }
  SortedIndicesView<Int> view() const { return {indices_.data(), places_.data(), nowhere_}; }

 private:
  DeviceScratch<Int> indices_, places_;
  Int nowhere_;
};

// The elements of a tensor of indices.
template <class Index>
struct ElementAt {
  const Index* indices;
  __device__ Index operator()(std::int64_t i) const { return indices[i]; }
};

// Sorts index_of(i) for 0 <= i < count. Those from 0 to below `end` are in range.
template <class Int, class IndexOf>
SortedIndices<Int> sort_indices(Device& device, std::int64_t count, std::int64_t end,
                                const IndexOf& index_of) {
  SortedIndices<Int> sorted(device, count, end);
  Int *to = sorted.indices(), *places = sorted.places();
  launch(device, count, [=] __device__(std::int64_t i) {
    const auto index = static_cast<std::int64_t>(index_of(i));
    to[i] = static_cast<Int>(index >= 0 && index < end ? index : end);
    places[i] = static_cast<Int>(i);
  });
  PoolOfThrust memory(device);
  thrust::stable_sort_by_key(thrust::cuda::par_nosync(memory).on(cuda_stream(device)), to, to + count,
                             places);
  return sorted;
}

// Calls use.operator()<Int>() with a type for SortedIndices of so many indices below `end`.
template <class Use>
void with_int_for(std::int64_t count, std::int64_t end, const Use& use) {
  constexpr std::int64_t most_in_32_bits = 0xffff'ffff;
  if (std::max(count, end) <= most_in_32_bits)
    use.template operator()<std::uint32_t>();
  else
    use.template operator()<std::uint64_t>();
}

}  // namespace actorflow

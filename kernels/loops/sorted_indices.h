// Indices sorted on the GPU: equal ones are neighbours, so their parts can be added in the order of
// their places, without atomic additions. For .cu files in a build with CUDA.
#pragma once

#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/devices/cuda_device.h"

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
    return i == 0 || indices[i] != indices[i - 1];
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

// Sorts the indices. Those from 0 to below `end` are in range.
template <class Int, class Index>
SortedIndices<Int> sort_indices(Device& device, const Index* indices, std::int64_t count,
                                std::int64_t end) {
  SortedIndices<Int> sorted(device, count, end);
  Int *to = sorted.indices(), *places = sorted.places();
  launch(device, count, [=] __device__(std::int64_t i) {
    const auto index = static_cast<std::int64_t>(indices[i]);
    to[i] = static_cast<Int>(index >= 0 && index < end ? index : end);
    places[i] = static_cast<Int>(i);
  });
  PoolOfThrust memory(device);
  thrust::stable_sort_by_key(thrust::cuda::par_nosync(memory).on(cuda_stream(device)), to, to + count,
                             places);
  return sorted;
}

}  // namespace actorflow

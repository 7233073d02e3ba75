// Sorting on the GPU by CUB: keys with their values, and the rows of a matrix. For .cu files in a build
// with CUDA. Nothing here waits for the GPU, and what is launched follows from sizes alone.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/devices/cuda_device.h"
#include "kernels/loops/rows.h"

namespace actorflow {

// Sorts `count` pairs by the lowest `bits` bits of their unsigned keys, ascending; equal keys keep their
// order. Input and output may not overlap.
template <class Key, class Value>
void sort_pairs(Device& device, std::int64_t count, int bits, const Key* keys, const Value* values,
                Key* sorted_keys, Value* sorted_values) {
  if (count == 0) return;
  const auto sort = [&, stream = cuda_stream(device)](void* scratch, std::size_t& scratch_bytes) {
    check_cuda(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys, sorted_keys, values,
                                               sorted_values, count, 0, bits, stream),
               "sort");
  };
  std::size_t scratch_bytes = 0;
  sort(nullptr, scratch_bytes);
  const DeviceScratch<std::byte> scratch(device, static_cast<std::int64_t>(scratch_bytes));
  sort(scratch.data(), scratch_bytes);
}

// The bits of the numbers from 0 to end - 1; at least one, since CUB sorts by no fewer.
inline int bits_below(std::int64_t end) {
  return end <= 2 ? 1 : std::bit_width(static_cast<std::uint64_t>(end - 1));
}

// The places of a matrix's elements, row after row, each row sorted by the unsigned key_of(place);
// equal ones in the order of their columns. All elements are sorted by their keys, and then by their
// rows, so that a few long rows take no longer than many short ones. Int is unsigned and holds the
// number of elements.
template <class Int, class Key, class KeyOf>
DeviceScratch<Int> sort_rows(Device& device, Rows size, const KeyOf& key_of) {
  const std::int64_t count = size.rows * size.columns;
  DeviceScratch<Int> places(device, count);
  const DeviceScratch<Int> by_key(device, count);
  {
    const DeviceScratch<Key> keys(device, count), sorted_keys(device, count);
    launch(device, count, [=, to = keys.data(), all = places.data()] __device__(std::int64_t i) {
      to[i] = key_of(i);
      all[i] = static_cast<Int>(i);
    });
    sort_pairs(device, count, 8 * sizeof(Key), keys.data(), places.data(), sorted_keys.data(),
               by_key.data());
  }
  if (size.rows == 1) return by_key;
  const DeviceScratch<Int> rows(device, count), sorted_rows(device, count);
  launch(device, count,
         [to = rows.data(), from = by_key.data(), columns = static_cast<Int>(size.columns)] __device__(
             std::int64_t i) { to[i] = from[i] / columns; });
  sort_pairs(device, count, bits_below(size.rows), rows.data(), by_key.data(), sorted_rows.data(),
             places.data());
  return places;
}

}  // namespace actorflow

// Adds or assigns parts of a tensor where sorted indices say, on the GPU and without atomic additions,
// whose order differs from run to run. For .cu files in a build with CUDA.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/loops/indexing.h"
#include "kernels/loops/sorted_indices.h"

namespace actorflow {

// Updates [outer, count, inner] for places in a tensor [outer, dim, inner], by the indices of `count`.
template <class Int, class T>
struct SortedUpdates {
  Indexed view;
  SortedIndicesView<Int> sorted;
  const T* updates;
  T* out;

  // The update of the index at k in the sorted order.
  __device__ T update(std::int64_t outer, std::int64_t k, std::int64_t column) const {
    return updates[(outer * view.count + static_cast<std::int64_t>(sorted.places[k])) * view.inner +
                   column];
  }
  __device__ T& place(std::int64_t outer, std::int64_t k, std::int64_t column) const {
    return out[(outer * view.dim + static_cast<std::int64_t>(sorted.indices[k])) * view.inner + column];
  }
  __device__ bool is_nowhere(std::int64_t k) const { return sorted.indices[k] == sorted.nowhere; }
};

// Of several updates of one place the last one counts.
template <class Int, class T>
void assign_sorted(Device& device, const SortedUpdates<Int, T>& s) {
  const Indexed view = s.view;
  launch(device, view.outer * view.count * view.inner, [=] __device__(std::int64_t i) {
    const std::int64_t column = i % view.inner, outer = i / view.inner / view.count;
    const std::int64_t k = i / view.inner % view.count;
    const bool is_last = k + 1 == view.count || s.sorted.begins_run(k + 1);
    if (is_last && !s.is_nowhere(k)) s.place(outer, k, column) = s.update(outer, k, column);
  });
}

// Adds the updates from k to before `end` to a sum in their order; some are on their way from memory at
// a time.
template <class Add, class Int, class T>
__device__ T sum_of_updates(const SortedUpdates<Int, T>& s, std::int64_t outer, std::int64_t k,
                            std::int64_t end, std::int64_t column, T sum) {
  constexpr int at_a_time = 8;
  for (; k < end; k += at_a_time) {
    T values[at_a_time];
#pragma unroll
    for (int j = 0; j < at_a_time; ++j)
      if (k + j < end) values[j] = s.update(outer, k + j, column);
#pragma unroll
    for (int j = 0; j < at_a_time; ++j)
      if (k + j < end) Add()(sum, values[j]);
  }
  return sum;
}

// Where one index comes very often, many threads share its updates: the sorted ones are cut into pieces,
// and what a piece begins with of the index that the one before ends with is summed up by itself. An
// index that comes no more often than a piece is long gets its updates in their order, as on a CPU. Add
// is a functor of (T& sum, T update).
template <class Add, class Int, class T>
void add_sorted(Device& device, const SortedUpdates<Int, T>& s) {
  constexpr std::int64_t piece = 1024;
  const Indexed view = s.view;
  const std::int64_t pieces = view.count == 0 ? 0 : (view.count - 1) / piece + 1;
  const bool has_others = pieces > 2;  // than those that the thread of a run's beginning adds
  const DeviceScratch<T> memory(device, has_others ? view.outer * pieces * view.inner : 0);
  T* const firsts = memory.data();  // [outer, pieces, inner]
  if (has_others)
    launch(device, view.outer * pieces * view.inner, [=] __device__(std::int64_t i) {
      const std::int64_t column = i % view.inner, outer = i / view.inner / pieces;
      const std::int64_t k = i / view.inner % pieces * piece;
      if (s.sorted.begins_run(k) || s.is_nowhere(k)) return;
      const std::int64_t end = s.sorted.end_of_run(k, std::min(k + piece, view.count));
      firsts[i] = sum_of_updates<Add>(s, outer, k, end, column, T(0));
    });
  launch(device, view.outer * view.count * view.inner, [=] __device__(std::int64_t i) {
    const std::int64_t column = i % view.inner, outer = i / view.inner / view.count;
    const std::int64_t k = i / view.inner % view.count;
    if (!s.sorted.begins_run(k) || s.is_nowhere(k)) return;
    const std::int64_t end = s.sorted.end_of_run(k, view.count);
    std::int64_t next = k / piece + 2;
    T& place = s.place(outer, k, column);
    T sum = sum_of_updates<Add>(s, outer, k, std::min(end, next * piece), column, place);
#pragma unroll 8
    for (; next * piece < end; ++next) Add()(sum, firsts[(outer * pieces + next) * view.inner + column]);
    place = sum;
  });
}

}  // namespace actorflow

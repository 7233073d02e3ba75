// Reductions: the shared part of ops that sum, or find extremes, along some axes.
//
// The result depends on the input alone: elements are combined in a fixed order that neither threads nor
// timing change. The order on a GPU differs from that on the CPU.
#pragma once

#include <algorithm>

#include "kernels/core/kernel.h"
#include "kernels/loops/reduce_run.h"
#include "kernels/loops/strided.h"
#include "kernels/loops/vectorised.h"

namespace actorflow {

// The loops over the axes that are kept, in the order of the output, and over those that are reduced.
struct ReduceLoops {
  StridedLoops<1> kept, reduced;
};

// `reduced(axis)` tells which axes of the input vanish.
template <class Predicate>
ReduceLoops reduce_loops(const Shape& input, const Predicate& reduced) {
  ReduceLoops loops;
  const auto strides = dense_strides(input);
  for (int axis = 0; axis < input.rank(); ++axis)
    (reduced(axis) ? loops.reduced : loops.kept)
        .append(input[axis], {strides[static_cast<std::size_t>(axis)]});
  loops.kept.finish();
  loops.reduced.finish();
  return loops;
}

// For a reduced innermost axis: one result after the other.
template <class Reducer, class T>
void reduce_rows(const ReduceLoops& loops, const T* x, T* out) {
  vectorised([&] {
    loops.kept.for_each_row([&](std::int64_t first, const auto& kept) {
      for (std::int64_t j = 0; j < loops.kept.row_length(); ++j) {
        const T* from = x + kept[0] + j * loops.kept.row_stride();
        auto total = Reducer::initial();
        loops.reduced.for_each_row([&](std::int64_t, const auto& reduced) {
          total = Reducer::combine(total,
                                   reduce_run<Reducer>(from + reduced[0], loops.reduced.row_length()));
        });
        out[first + j] = Reducer::result(total, loops.reduced.elements);
      }
    });
  });
}

// For a kept innermost axis: many results side by side, reading memory in order.
template <class Reducer, class T>
void reduce_columns(const ReduceLoops& loops, const T* x, T* out) {
  using Accumulator = typename Reducer::Accumulator;
  constexpr std::int64_t block = 4096;  // long runs of memory, and totals that stay in the cache
  vectorised([&] {
    Accumulator totals[block];
    loops.kept.for_each_row([&](std::int64_t first, const auto& kept) {
      for (std::int64_t column = 0; column < loops.kept.row_length(); column += block) {
        const std::int64_t count = std::min(block, loops.kept.row_length() - column);
        std::fill_n(totals, count, Reducer::initial());
        loops.reduced.for_each_row([&](std::int64_t, const auto& reduced) {
          const T* row = x + kept[0] + column + reduced[0];
          for (std::int64_t i = 0; i < loops.reduced.row_length();
               ++i, row += loops.reduced.row_stride())
            for (std::int64_t j = 0; j < count; ++j)
              totals[j] = Reducer::combine(totals[j], static_cast<Accumulator>(row[j]));
        });
        for (std::int64_t j = 0; j < count; ++j)
          out[first + column + j] = Reducer::result(totals[j], loops.reduced.elements);
      }
    });
  });
}

#ifdef ACTORFLOW_CUDA
// Defined in reduce_cuda.h.
template <class Reducer, class T>
void reduce_on_cuda(Device& device, const ReduceLoops& loops, const T* x, T* out);
#endif

// Reduces x to out [loops.kept.elements]. REQUIRES: both on `device` (not checked: an address does not
// tell).
template <class Reducer, class T>
void reduce(Device& device, const ReduceLoops& loops, const T* x, T* out) {
  if (loops.kept.elements == 0) return;
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return reduce_on_cuda<Reducer>(device, loops, x, out);
#endif
  if (device.type() == DeviceType::cpu && loops.reduced.row_stride() == 1)
    reduce_rows<Reducer>(loops, x, out);
  else
    reduce_columns<Reducer>(loops, x, out);
}

}  // namespace actorflow

#ifdef ACTORFLOW_CUDA
#include "kernels/ops/reduce_cuda.h"
#endif

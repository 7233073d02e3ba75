// Reductions: the shared part of ops that sum, or find extremes, along some axes.
//
// The result depends on the input alone: elements are combined in a fixed order that neither threads nor
// timing change. The order on a GPU differs from that on the CPU.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/core/kernel.h"
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

// The reducers. Each has a type in which it accumulates, the value to start with, the combination of two
// accumulated values, and the result for a number of elements.

template <class T>
struct SumReducer {
  // float32 accumulates in float64, so that the rounding of millions of additions stays below that of
  // the result. Integers wrap around, as unsigned ones do.
  using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
  ACTORFLOW_HOST_DEVICE static Accumulator initial() { return 0; }
  ACTORFLOW_HOST_DEVICE static Accumulator combine(Accumulator a, Accumulator b) { return a + b; }
  ACTORFLOW_HOST_DEVICE static T result(Accumulator sum, std::int64_t) { return static_cast<T>(sum); }
};

template <class T>
struct MeanReducer : SumReducer<T> {
  ACTORFLOW_HOST_DEVICE static T result(double sum, std::int64_t count) {
    return static_cast<T>(sum / static_cast<double>(count));
  }
};

// The extremes; NaN if one of the elements is.
template <class T>
struct MaxReducer {
  using Accumulator = T;
  ACTORFLOW_HOST_DEVICE static T initial() {
    if constexpr (std::is_floating_point_v<T>)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  ACTORFLOW_HOST_DEVICE static T combine(T a, T b) {
    const T larger = b > a ? b : a;  // a if that is NaN
    return b != b ? b : larger;
  }
  ACTORFLOW_HOST_DEVICE static T result(T value, std::int64_t) { return value; }
};

template <class T>
struct MinReducer {
  using Accumulator = T;
  ACTORFLOW_HOST_DEVICE static T initial() {
    if constexpr (std::is_floating_point_v<T>)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  ACTORFLOW_HOST_DEVICE static T combine(T a, T b) {
    const T smaller = b < a ? b : a;
    return b != b ? b : smaller;
  }
  ACTORFLOW_HOST_DEVICE static T result(T value, std::int64_t) { return value; }
};

// Combines neighbouring elements: in lanes, which the compiler turns into vectors and whose number is
// the same on every machine, then the lanes by halves. Small types have more lanes, because a chain of
// comparisons is slow. Short runs use no lanes.
template <class Reducer, class T>
typename Reducer::Accumulator reduce_run(const T* x, std::int64_t count) {
  using Accumulator = typename Reducer::Accumulator;
  constexpr int lanes = sizeof(Accumulator) == 8 ? 16 : 64, short_run = 16;
  if (count < short_run) {
    Accumulator total = Reducer::initial();
    for (std::int64_t i = 0; i < count; ++i)
      total = Reducer::combine(total, static_cast<Accumulator>(x[i]));
    return total;
  }
  Accumulator lane[lanes];
  std::fill_n(lane, lanes, Reducer::initial());
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int j = 0; j < lanes; ++j)
      lane[j] = Reducer::combine(lane[j], static_cast<Accumulator>(x[i + j]));
  for (int j = 0; i < count; ++i, ++j)
    lane[j] = Reducer::combine(lane[j], static_cast<Accumulator>(x[i]));
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) lane[j] = Reducer::combine(lane[j], lane[j + half]);
  return lane[0];
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

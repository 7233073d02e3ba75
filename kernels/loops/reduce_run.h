// What reductions combine, and how they do for neighbouring elements on a CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/devices/host_device.h"

namespace actorflow {

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

}  // namespace actorflow

// The formulas of batch normalisation per element, for any device.
//
// A tensor [..., channels] is a matrix with a column per channel. With m its rows, for each column:
//   mean = sum(x) / m,  inverse_stddev = 1 / sqrt(sum((x - mean)^2) / m + epsilon)
//   y = (x - mean) factor + offset (+ side input), and the relu of that;  factor = scale inverse_stddev
// and with g the gradient of y where the relu passed it, else 0:
//   d offset = sum(g),  d scale = inverse_stddev sum(g (x - mean))
//   dx = factor (g - d offset / m - (x - mean) inverse_stddev d scale / m)
// Source: Ioffe and Szegedy 2015, section 3.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/devices/host_device.h"
#include "kernels/loops/rows.h"

namespace actorflow {

// The source of the relu's derivative at an element.
enum class ReluMask : std::uint8_t { none, recomputed, from_output };

// The values of a column, or of a lane on the CPU.
template <class T>
struct BatchNormColumns {
  const T *mean, *factor, *offset;
};

template <class T, bool relu, bool has_side>
struct Normalised {
  const T *x, *side;
  BatchNormColumns<T> columns;

  ACTORFLOW_HOST_DEVICE T operator()(std::int64_t i, std::int64_t column) const {
    T y = (x[i] - columns.mean[column]) * columns.factor[column] + columns.offset[column];
    if constexpr (has_side) y += side[i];
    if constexpr (relu) y = y < 0 ? T(0) : y;
    return y;
  }
};

// The gradient of y where the relu passed it.
template <class T, ReluMask mask>
struct PassedGradient {
  const T *g, *x, *y;
  BatchNormColumns<T> columns;

  ACTORFLOW_HOST_DEVICE T operator()(std::int64_t i, std::int64_t column) const {
    if constexpr (mask == ReluMask::none) return g[i];
    const T output = mask == ReluMask::from_output
                         ? y[i]
                         : Normalised<T, false, false>{x, nullptr, columns}(i, column);
    return output > 0 ? g[i] : T(0);
  }
};

// The gradient of x. `shift` is d offset / m, `slope` is inverse_stddev d scale / m.
template <class T, ReluMask mask>
struct InputGradient {
  PassedGradient<T, mask> passed;
  const T *shift, *slope;

  ACTORFLOW_HOST_DEVICE T operator()(std::int64_t i, std::int64_t column) const {
    const auto& [mean, factor, offset] = passed.columns;
    return factor[column] *
           (passed(i, column) - shift[column] - (passed.x[i] - mean[column]) * slope[column]);
  }
};

// Calls body with a std::bool_constant for each flag.
template <class Body>
void with_flags(bool a, bool b, const Body& body) {
  const auto with_a = [&](auto flag_a) {
    b ? body(flag_a, std::true_type()) : body(flag_a, std::false_type());
  };
  a ? with_a(std::true_type()) : with_a(std::false_type());
}

template <class Body>
void with_mask(ReluMask mask, const Body& body) {
  switch (mask) {
    case ReluMask::none:
      return body(std::integral_constant<ReluMask, ReluMask::none>());
    case ReluMask::recomputed:
      return body(std::integral_constant<ReluMask, ReluMask::recomputed>());
    case ReluMask::from_output:
      return body(std::integral_constant<ReluMask, ReluMask::from_output>());
  }
}

template <class T>
struct ForwardTask {
  Rows size;
  double epsilon;
  bool relu;
  const T *x, *scale, *offset, *side;  // side may be null
  T *y, *mean, *variance, *inverse_stddev;
};

template <class T>
struct BackwardTask {
  Rows size;
  ReluMask mask;
  const T *g, *x, *scale, *offset, *mean, *inverse_stddev, *y;
  T *dx, *dscale, *doffset;
  T* dside;  // with ReluMask::from_output, else null; may be g
};

// Bessel's correction, for at least two values.
ACTORFLOW_HOST_DEVICE inline double unbiased(double squares, double count) {
  return count > 1 ? squares / (count - 1) : squares;
}

}  // namespace actorflow

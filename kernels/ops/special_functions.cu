// Erf, Softplus, Sin, Cos, Floor, Ceil, Round and StopGradient.
#include <array>
#include <cmath>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/elementary.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

// Near 0, where 1 - erfc(x) loses digits, the Maclaurin series, to the last bit of a double below 1/2.
struct Erf {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
#ifdef __CUDA_ARCH__
    return std::erf(x);
#else
    constexpr T two_over_root_pi = T(1.12837916709551257390);
    const T square = x * x;
    const T near_sum = polynomial_of(square);
    const T near = two_over_root_pi * x * near_sum;
    const T far = 1 - elementary::erfc(x);
    return std::fabs(x) < T(0.5) ? near : far;
#endif
  }

#ifndef __CUDA_ARCH__
  static constexpr int terms = 14;
  // (-1)^n / (n! (2n + 1)), n = 0, 1, ...
  static constexpr std::array<double, terms> coefficients = [] {
    std::array<double, terms> values{};
    double factorial = 1;
    for (int n = 0; n < terms; ++n) {
      factorial *= n == 0 ? 1 : n;
      values[static_cast<std::size_t>(n)] = (n % 2 == 0 ? 1 : -1) / (factorial * (2 * n + 1));
    }
    return values;
  }();

  template <class T>
  static T polynomial_of(T square) {
    T sum = 0;
    for (int n = terms - 1; n >= 0; --n)
      sum = sum * square + static_cast<T>(coefficients[static_cast<std::size_t>(n)]);
    return sum;
  }
#endif
};

// log(1 + e^x) without overflow, and without loss where it is small: with u = 1 + t as it is rounded,
// log(1 + t) is log(u) t / (u - 1) (Kahan, in Goldberg 1991, theorem 4).
struct Softplus {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    const T positive = x < 0 ? T(0) : x;  // NaN stays
    const T t = elementary::exp(-std::fabs(x)), u = 1 + t;
    const T rest = u == 1 ? t : elementary::log(u) * (t / (u - 1));
    return positive + rest;
  }
};

// Sine and cosine, in float64. Up to 2^20 in the distance from 0 the argument is reduced by multiples of
// pi / 2 in three parts of 33 bits, whose products are exact, and the polynomials are those of Sun's
// fdlibm (k_sin.c, k_cos.c): the same bits on every CPU. Farther away the C library answers.
template <int quarter_turns>
struct Sine {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
#ifdef __CUDA_ARCH__
    return quarter_turns == 0 ? std::sin(x) : std::cos(x);
#else
    const auto far = static_cast<double>(x);
    if (!(std::fabs(far) <= 0x1p20))
      return static_cast<T>(quarter_turns == 0 ? std::sin(far) : std::cos(far));
    const double turns = std::rint(far * 0.63661977236758134308);
    const double r = ((far - turns * 1.57079632673412561417e+00) - turns * 6.07710050630396597660e-11) -
                     turns * 2.02226624879595063154e-21;
    const auto quadrant = (static_cast<std::int64_t>(turns) + quarter_turns) & 3;
    const double value = quadrant % 2 == 0 ? near_zero_sine(r) : near_zero_cosine(r);
    return static_cast<T>(quadrant >= 2 ? -value : value);
#endif
  }

 private:
  static double near_zero_sine(double r) {
    const double z = r * r;
    const double tail = 8.33333333332248946124e-03 +
                        z * (-1.98412698298579493134e-04 +
                             z * (2.75573137070700676789e-06 +
                                  z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    return r + r * z * (-1.66666666666666324348e-01 + z * tail);
  }

  static double near_zero_cosine(double r) {
    const double z = r * r;
    const double tail =
        4.16666666666666019037e-02 +
        z * (-1.38888888888741095749e-03 +
             z * (2.48015872894767294178e-05 +
                  z * (-2.75573143513906633035e-07 +
                       z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
    return 1 - (z / 2 - z * z * tail);
  }
};

struct Floor {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return std::floor(x);
  }
};

struct Ceil {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return std::ceil(x);
  }
};

struct Round {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return std::rint(x);
  }
};

OpDef unary_def(std::string_view name, decltype(OpDef::gradient) gradient) {
  return {.name = name,
          .min_inputs = 1,
          .max_inputs = 1,
          .infer = infer_unary<FloatingTypes>,
          .gradient = gradient};
}

std::vector<Output> erf_gradient(GradientContext& c) {
  constexpr double two_over_root_pi = 1.12837916709551257390;
  return {c.gradient() * exp(-square(c.input(0))) * two_over_root_pi};
}

std::vector<Output> softplus_gradient(GradientContext& c) {
  return {c.gradient() * sigmoid(c.input(0))};
}

std::vector<Output> sin_gradient(GradientContext& c) { return {c.gradient() * cos(c.input(0))}; }
std::vector<Output> cos_gradient(GradientContext& c) { return {c.gradient() * -sin(c.input(0))}; }

const OpDef& sin_op() {
  static const OpDef op = unary_def("Sin", sin_gradient);
  return op;
}

const OpDef& cos_op() {
  static const OpDef op = unary_def("Cos", cos_gradient);
  return op;
}

const OpDef& erf_op() {
  static const OpDef op = unary_def("Erf", erf_gradient);
  return op;
}

const OpDef& softplus_op() {
  static const OpDef op = unary_def("Softplus", softplus_gradient);
  return op;
}

const OpDef& floor_op() {
  static const OpDef op = unary_def("Floor", nullptr);
  return op;
}

const OpDef& ceil_op() {
  static const OpDef op = unary_def("Ceil", nullptr);
  return op;
}

const OpDef& round_op() {
  static const OpDef op = unary_def("Round", nullptr);
  return op;
}

void infer_same(InferContext& c) { c.add_output(c.input(0).dtype, c.input(0).shape); }

const OpDef& stop_gradient_op() {
  static const OpDef op{.name = "StopGradient", .min_inputs = 1, .max_inputs = 1, .infer = infer_same};
  return op;
}

void pass_on(OpContext& c) { c.set_output(0, c.input(0)); }

}  // namespace

Output erf(Output x) { return add_node(erf_op(), {x}); }
Output softplus(Output x) { return add_node(softplus_op(), {x}); }
Output sin(Output x) { return add_node(sin_op(), {x}); }
Output cos(Output x) { return add_node(cos_op(), {x}); }
Output floor(Output x) { return add_node(floor_op(), {x}); }
Output ceil(Output x) { return add_node(ceil_op(), {x}); }
Output round(Output x) { return add_node(round_op(), {x}); }
Output stop_gradient(Output x) { return add_node(stop_gradient_op(), {x}); }

std::vector<Op> special_function_ops() {
  return {on_all_devices<unary<Erf, FloatingTypes>>(erf_op()),
          on_all_devices<unary<Softplus, FloatingTypes>>(softplus_op()),
          on_all_devices<unary<Sine<0>, FloatingTypes>>(sin_op()),
          on_all_devices<unary<Sine<1>, FloatingTypes>>(cos_op()),
          on_all_devices<unary<Floor, FloatingTypes>>(floor_op()),
          on_all_devices<unary<Ceil, FloatingTypes>>(ceil_op()),
          on_all_devices<unary<Round, FloatingTypes>>(round_op()),
          on_all_devices<pass_on>(stop_gradient_op())};
}

}  // namespace actorflow

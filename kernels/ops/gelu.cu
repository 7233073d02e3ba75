// Gelu, the Gaussian error linear unit, exact or by its tanh approximation, and its gradient.
// Hendrycks and Gimpel, Gaussian Error Linear Units (2016).
#include <cmath>
#include <limits>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/loops/elementary.h"
#include "kernels/loops/elementwise.h"
#include "kernels/loops/short_floats.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

// x Phi(x), with Phi the normal distribution function.
struct Gelu {
  template <class T>
  ACTORFLOW_HOST_DEVICE static T distribution(T x) {
    constexpr T sqrt_half = T(0.70710678118654752440);
    return T(0.5) * elementary::erfc(x * -sqrt_half);
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    // -infinity times 0 would be NaN.
    return x == -std::numeric_limits<T>::infinity() ? T(0) : x * distribution(x);
  }
};

struct GeluGrad {
  static constexpr double inverse_sqrt_2pi = 0.39894228040143267794;

  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T g, T x) const {
    const T density = T(inverse_sqrt_2pi) * elementary::exp(x * x * T(-0.5));
    return g * (Gelu::distribution(x) + x * density);
  }
};

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3).
struct ApproximateGelu {
  static constexpr double scale = 0.79788456080286535588, cubic = 0.044715;

  template <class T>
  ACTORFLOW_HOST_DEVICE static T tanh_of(T x) {
    return elementary::tanh(T(scale) * (x + T(cubic) * x * x * x));
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return T(0.5) * x * (1 + tanh_of(x));
  }
};

struct ApproximateGeluGrad {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T g, T x) const {
    using Forward = ApproximateGelu;
    const T t = Forward::tanh_of(x);
    const T slope = T(Forward::scale) * (1 + T(3 * Forward::cubic) * x * x);
    return g * T(0.5) * (1 + t + x * (1 - t * t) * slope);
  }
};

Output slope(Output x) {
  return (erf(x * std::sqrt(0.5)) + 1) * 0.5 + x * exp(x * x * -0.5) * GeluGrad::inverse_sqrt_2pi;
}

Output slope_of_approximation(Output x) {
  using Forward = ApproximateGelu;
  const Output t = tanh((x + x * x * x * Forward::cubic) * Forward::scale);
  return (1 + t + x * (1 - t * t) * (1 + x * x * (3 * Forward::cubic)) * Forward::scale) * 0.5;
}

std::vector<Output> gelu_second_gradient(GradientContext& c) {
  const DType dtype = c.input(0).dtype();
  const DType wide = dtype == DType::float64 ? dtype : DType::float32;  // in 16 bits nothing would be left
  const Output g = cast(c.input(0), wide), x = cast(c.input(1), wide);
  const Output slope_of_x = c.attr<bool>("approximate") ? slope_of_approximation(x) : slope(x);
  return gradients_of_composition(c, {cast(g * slope_of_x, dtype)});
}

const OpDef& gelu_grad_op() {
  static const OpDef op{.name = "GeluGrad",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {{"approximate", false}},
                        .infer = infer_binary<AllFloatingTypes>,
                        .gradient = gelu_second_gradient};
  return op;
}

std::vector<Output> gelu_gradient(GradientContext& c) {
  const Attrs attrs{{"approximate", c.attr<bool>("approximate")}};
  return {c.graph().add(gelu_grad_op(), {c.gradient(), c.input(0)}, attrs)};
}

const OpDef& gelu_op() {
  static const OpDef op{.name = "Gelu",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"approximate", false}},
                        .infer = infer_unary<AllFloatingTypes>,
                        .gradient = gelu_gradient};
  return op;
}

void gelu_kernel(OpContext& c) {
  if (attr<bool>(c.node(), "approximate"))
    unary<ApproximateGelu, FloatingTypes>(c);
  else
    unary<Gelu, FloatingTypes>(c);
}

void gelu_grad_kernel(OpContext& c) {
  if (attr<bool>(c.node(), "approximate"))
    binary<ApproximateGeluGrad, FloatingTypes>(c);
  else
    binary<GeluGrad, FloatingTypes>(c);
}

}  // namespace

Output gelu(Output x, bool approximate) {
  return add_node(gelu_op(), {x}, {{"approximate", approximate}});
}

std::vector<Op> gelu_ops() {
  return {on_all_devices<in_float32<gelu_kernel>>(gelu_op()), on_all_devices<in_float32<gelu_grad_kernel>>(gelu_grad_op())};
}

}  // namespace actorflow

// Neg, Abs, Sign, Square, Exp, Log, Sqrt, Rsqrt, Tanh, Sigmoid, Relu, and the last three's gradients.
#include <cmath>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/elementary.h"
#include "kernels/loops/elementwise.h"
#include "kernels/loops/relu.h"
#include "kernels/loops/short_floats.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// Integers wrap around.
struct Neg {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
    else
      return static_cast<T>(-x);
  }
};

struct Abs {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x < 0 ? Neg()(x) : x;
    else
      return std::abs(x);
  }
};

struct Sign {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return x > 0 ? T(1) : x < 0 ? T(-1) : x;  // x is 0 or NaN
  }
};

struct Square {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) *
                            static_cast<std::make_unsigned_t<T>>(x));
    else
      return x * x;
  }
};

struct Exp {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return elementary::exp(x);
  }
};

struct Log {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return elementary::log(x);
  }
};

struct Sqrt {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return std::sqrt(x);
  }
};

struct Rsqrt {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return 1 / std::sqrt(x);
  }
};

struct Tanh {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return elementary::tanh(x);
  }
};

struct Sigmoid {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return elementary::sigmoid(x);
  }
};

// Gradients take the gradient g of the output and the output y itself, so that x need not be kept.

struct TanhGrad {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T g, T y) const {
    return g * (1 - y * y);
  }
};

struct SigmoidGrad {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T g, T y) const {
    return g * (y * (1 - y));
  }
};

using Gradient = decltype(OpDef::gradient);

OpDef unary_def(std::string_view name, decltype(OpDef::infer) infer, Gradient gradient) {
  return {.name = name, .min_inputs = 1, .max_inputs = 1, .infer = infer, .gradient = gradient};
}

OpDef gradient_def(std::string_view name, Gradient gradient) {
  return {.name = name,
          .min_inputs = 2,
          .max_inputs = 2,
          .infer = infer_binary<AllFloatingTypes>,
          .gradient = gradient};
}

const OpDef& tanh_grad_op();
const OpDef& sigmoid_grad_op();
const OpDef& relu_grad_op();

std::vector<Output> neg_gradient(GradientContext& c) { return {-c.gradient()}; }
std::vector<Output> abs_gradient(GradientContext& c) { return {c.gradient() * sign(c.input(0))}; }
std::vector<Output> square_gradient(GradientContext& c) { return {c.gradient() * (c.input(0) * 2)}; }
std::vector<Output> exp_gradient(GradientContext& c) { return {c.gradient() * c.output(0)}; }
std::vector<Output> log_gradient(GradientContext& c) { return {c.gradient() / c.input(0)}; }
std::vector<Output> sqrt_gradient(GradientContext& c) { return {c.gradient() * 0.5 / c.output(0)}; }
std::vector<Output> rsqrt_gradient(GradientContext& c) {
  const Output y = c.output(0);
  return {c.gradient() * -0.5 * (y * square(y))};
}

template <const OpDef& (*gradient_op)()>
std::vector<Output> gradient_from_output(GradientContext& c) {
  return {c.graph().add(gradient_op(), {c.gradient(), c.output(0)})};
}

// Second derivatives: of g f(y) towards g and y, with h the gradient of it.

std::vector<Output> tanh_grad_gradient(GradientContext& c) {
  const Output g = c.input(0), y = c.input(1), h = c.gradient();
  return {c.graph().add(tanh_grad_op(), {h, y}), h * g * (y * -2)};
}

std::vector<Output> sigmoid_grad_gradient(GradientContext& c) {
  const Output g = c.input(0), y = c.input(1), h = c.gradient();
  return {c.graph().add(sigmoid_grad_op(), {h, y}), h * g * (1 - y * 2)};
}

std::vector<Output> relu_grad_gradient(GradientContext& c) {
  return {c.graph().add(relu_grad_op(), {c.gradient(), c.input(1)}), {}};
}

const OpDef& neg_op() {
  static const OpDef op = unary_def("Neg", infer_unary<ArithmeticTypes>, neg_gradient);
  return op;
}

const OpDef& abs_op() {
  static const OpDef op = unary_def("Abs", infer_unary<NumericTypes>, abs_gradient);
  return op;
}

const OpDef& sign_op() {
  static const OpDef op = unary_def("Sign", infer_unary<NumericTypes>, nullptr);
  return op;
}

const OpDef& square_op() {
  static const OpDef op = unary_def("Square", infer_unary<NumericTypes>, square_gradient);
  return op;
}

const OpDef& exp_op() {
  static const OpDef op = unary_def("Exp", infer_unary<AllFloatingTypes>, exp_gradient);
  return op;
}

const OpDef& log_op() {
  static const OpDef op = unary_def("Log", infer_unary<FloatingTypes>, log_gradient);
  return op;
}

const OpDef& sqrt_op() {
  static const OpDef op = unary_def("Sqrt", infer_unary<FloatingTypes>, sqrt_gradient);
  return op;
}

const OpDef& rsqrt_op() {
  static const OpDef op = unary_def("Rsqrt", infer_unary<FloatingTypes>, rsqrt_gradient);
  return op;
}

const OpDef& tanh_op() {
  static const OpDef op =
      unary_def("Tanh", infer_unary<AllFloatingTypes>, gradient_from_output<tanh_grad_op>);
  return op;
}

const OpDef& sigmoid_op() {
  static const OpDef op =
      unary_def("Sigmoid", infer_unary<AllFloatingTypes>, gradient_from_output<sigmoid_grad_op>);
  return op;
}

const OpDef& relu_op() {
  static const OpDef op =
      unary_def("Relu", infer_unary<AllFloatingTypes>, gradient_from_output<relu_grad_op>);
  return op;
}

const OpDef& tanh_grad_op() {
  static const OpDef op = gradient_def("TanhGrad", tanh_grad_gradient);
  return op;
}

const OpDef& sigmoid_grad_op() {
  static const OpDef op = gradient_def("SigmoidGrad", sigmoid_grad_gradient);
  return op;
}

const OpDef& relu_grad_op() {
  static const OpDef op = gradient_def("ReluGrad", relu_grad_gradient);
  return op;
}

}  // namespace

Output negative(Output x) { return add_node(neg_op(), {x}); }
Output abs(Output x) { return add_node(abs_op(), {x}); }
Output sign(Output x) { return add_node(sign_op(), {x}); }
Output square(Output x) { return add_node(square_op(), {x}); }
Output exp(Output x) { return add_node(exp_op(), {x}); }
Output log(Output x) { return add_node(log_op(), {x}); }
Output sqrt(Output x) { return add_node(sqrt_op(), {x}); }
Output rsqrt(Output x) { return add_node(rsqrt_op(), {x}); }
Output tanh(Output x) { return add_node(tanh_op(), {x}); }
Output sigmoid(Output x) { return add_node(sigmoid_op(), {x}); }
Output relu(Output x) { return add_node(relu_op(), {x}); }
Output relu_grad(Output g, Output y) { return add_node(relu_grad_op(), {g, y}); }

std::vector<Op> unary_ops() {
  return {on_all_devices<unary<Neg, ArithmeticTypes>>(neg_op()),
          on_all_devices<unary<Abs, NumericTypes>>(abs_op()),
          on_all_devices<unary<Sign, NumericTypes>>(sign_op()),
          on_all_devices<unary<Square, NumericTypes>>(square_op()),
          on_all_devices<in_float32<unary<Exp, FloatingTypes>>>(exp_op()),
          on_all_devices<unary<Log, FloatingTypes>>(log_op()),
          on_all_devices<unary<Sqrt, FloatingTypes>>(sqrt_op()),
          on_all_devices<unary<Rsqrt, FloatingTypes>>(rsqrt_op()),
          on_all_devices<in_float32<unary<Tanh, FloatingTypes>>>(tanh_op()),
          on_all_devices<in_float32<unary<Sigmoid, FloatingTypes>>>(sigmoid_op()),
          on_all_devices<in_float32<unary<Relu, FloatingTypes>>>(relu_op()),
          on_all_devices<in_float32<binary<TanhGrad, FloatingTypes>>>(tanh_grad_op()),
          on_all_devices<in_float32<binary<SigmoidGrad, FloatingTypes>>>(sigmoid_grad_op()),
          on_all_devices<in_float32<binary<ReluGrad, FloatingTypes>>>(relu_grad_op())};
}

}  // namespace actorflow

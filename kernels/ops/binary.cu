// Add, Sub, Mul, Div, Maximum, Minimum, Pow: elementwise, with broadcasting.
#include <cmath>
#include <limits>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// The type to compute in: integers wrap around, as unsigned ones do.
template <class T, bool integral = std::is_integral_v<T>>
struct Wrapping {
  using Type = T;
};
template <class T>
struct Wrapping<T, true> {
  using Type = std::make_unsigned_t<T>;
};
template <class T>
using WrappingType = typename Wrapping<T>::Type;

struct Add {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(static_cast<WrappingType<T>>(a) + static_cast<WrappingType<T>>(b));
  }
};

struct Sub {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(static_cast<WrappingType<T>>(a) - static_cast<WrappingType<T>>(b));
  }
};

struct Mul {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(static_cast<WrappingType<T>>(a) * static_cast<WrappingType<T>>(b));
  }
};

// Of integers: the only quotient that overflows, lowest / -1, wraps around; x / 0 is 0 where the check
// below is not made.
struct Div {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return b == 0 ? T(0) : b == -1 ? Sub()(T(0), a) : static_cast<T>(a / b);
    else
      return static_cast<T>(a / b);
  }
};

// Numbers of 16 bits are chosen as floats, which compilers turn into vectors.
template <class T>
using Compared = std::conditional_t<is_short_float<T>, float, T>;

// NaN where one of the two is.
struct Maximum {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T a, T b) const {
    const Compared<T> x = a, y = b, larger = x > y ? x : y;  // y if that is NaN
    return static_cast<T>(x != x ? x : larger);
  }
};

struct Minimum {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T a, T b) const {
    const Compared<T> x = a, y = b, smaller = x < y ? x : y;
    return static_cast<T>(x != x ? x : smaller);
  }
};

struct Pow {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T a, T b) const {
    return std::pow(a, b);
  }
};

using Gradient = decltype(OpDef::gradient);

// True if `shape` is not repeated when it broadcasts with `other`, as far as is known.
bool keeps_shape(const Shape& shape, const Shape& other) {
  if (!shape.has_rank() || !other.has_rank() || other.rank() > shape.rank()) return false;
  for (int axis = 0; axis < other.rank(); ++axis) {
    const auto mine = shape[shape.rank() - other.rank() + axis];
    const bool repeated_or_unknown = mine == 1 || mine == Shape::unknown;
    if (repeated_or_unknown && other[axis] != 1) return false;
  }
  return true;
}

// The gradients of both inputs from those of their broadcast elements.
std::vector<Output> unbroadcast(GradientContext& c, Output towards_a, Output towards_b) {
  const Output a = c.input(0), b = c.input(1);
  return {keeps_shape(a.shape(), b.shape()) ? towards_a : sum_like(towards_a, a),
          keeps_shape(b.shape(), a.shape()) ? towards_b : sum_like(towards_b, b)};
}

std::vector<Output> add_gradient(GradientContext& c) {
  return unbroadcast(c, c.gradient(), c.gradient());
}

std::vector<Output> sub_gradient(GradientContext& c) {
  return unbroadcast(c, c.gradient(), -c.gradient());
}

std::vector<Output> mul_gradient(GradientContext& c) {
  return unbroadcast(c, c.gradient() * c.input(1), c.gradient() * c.input(0));
}

std::vector<Output> div_gradient(GradientContext& c) {
  const Output towards_a = c.gradient() / c.input(1);
  return unbroadcast(c, towards_a, -(towards_a * c.output(0)));
}

template <Output (*wins)(Output, Output)>
std::vector<Output> extremum_gradient(GradientContext& c) {
  const Output first = wins(c.input(0), c.input(1)), g = c.gradient(), zero = scalar_like(g, 0);
  return unbroadcast(c, select(first, g, zero), select(first, zero, g));
}

// Towards the exponent: g y log(a), and 0 where a is not positive, as the function is 0 or undefined
// there.
std::vector<Output> pow_gradient(GradientContext& c) {
  const Output a = c.input(0), b = c.input(1), g = c.gradient();
  const Output log_a = select(greater(a, scalar_like(a, 0)), log(a), scalar_like(a, 0));
  return unbroadcast(c, g * b * pow(a, b - 1), g * c.output(0) * log_a);
}

template <class Types>
OpDef binary_def(std::string_view name, Gradient gradient) {
  return {.name = name,
          .min_inputs = 2,
          .max_inputs = 2,
          .infer = infer_binary<Types>,
          .gradient = gradient};
}

const OpDef& add_op() {
  static const OpDef op = binary_def<ArithmeticTypes>("Add", add_gradient);
  return op;
}

const OpDef& sub_op() {
  static const OpDef op = binary_def<ArithmeticTypes>("Sub", sub_gradient);
  return op;
}

const OpDef& mul_op() {
  static const OpDef op = binary_def<ArithmeticTypes>("Mul", mul_gradient);
  return op;
}

const OpDef& div_op() {
  static const OpDef op = binary_def<ArithmeticTypes>("Div", div_gradient);
  return op;
}

const OpDef& maximum_op() {
  static const OpDef op = binary_def<ArithmeticTypes>("Maximum", extremum_gradient<greater_equal>);
  return op;
}

const OpDef& minimum_op() {
  static const OpDef op = binary_def<ArithmeticTypes>("Minimum", extremum_gradient<less_equal>);
  return op;
}

const OpDef& pow_op() {
  static const OpDef op = binary_def<FloatingTypes>("Pow", pow_gradient);
  return op;
}

// On a CPU the divisors are at hand: a zero among integers is a mistake of the program.
void divide_kernel(OpContext& c) {
  const Tensor& divisor = c.input(1);
  if (divisor.on_host())
    DTypes<std::int32_t, std::int64_t>::dispatch(divisor.dtype(), [&]<class T>() {
      for (const T value : divisor.values<T>())
        if (value == 0) c.fail("divisors other than 0", "a 0 in " + divisor.describe());
    });
  binary<Div, ArithmeticTypes>(c);
}

}  // namespace

Output add(Output a, Output b) { return add_node(add_op(), {a, b}); }
Output subtract(Output a, Output b) { return add_node(sub_op(), {a, b}); }
Output multiply(Output a, Output b) { return add_node(mul_op(), {a, b}); }
Output divide(Output a, Output b) { return add_node(div_op(), {a, b}); }
Output maximum(Output a, Output b) { return add_node(maximum_op(), {a, b}); }
Output minimum(Output a, Output b) { return add_node(minimum_op(), {a, b}); }
Output pow(Output base, Output exponent) { return add_node(pow_op(), {base, exponent}); }

std::vector<Op> binary_ops() {
  return {on_all_devices<binary<Add, ArithmeticTypes>>(add_op()),
          on_all_devices<binary<Sub, ArithmeticTypes>>(sub_op()),
          on_all_devices<binary<Mul, ArithmeticTypes>>(mul_op()),
          on_all_devices<divide_kernel>(div_op()),
          on_all_devices<binary<Maximum, ArithmeticTypes>>(maximum_op()),
          on_all_devices<binary<Minimum, ArithmeticTypes>>(minimum_op()),
          on_all_devices<binary<Pow, FloatingTypes>>(pow_op())};
}

}  // namespace actorflow

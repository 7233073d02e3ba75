// Cast between all dtypes but string.
#include <limits>
#include <string>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// Does what C++ leaves open: a floating value beyond the target's range becomes its bound, NaN 0.
// Integers keep their low bits.
template <class To>
struct CastTo {
  template <class From>
  ACTORFLOW_HOST_DEVICE To operator()(From value) const {
    if constexpr (std::is_same_v<To, bool>)
      return value != From(0);
    else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
      return saturate(value);
    else
      return static_cast<To>(value);
  }

 private:
  template <class From>
  ACTORFLOW_HOST_DEVICE static To saturate(From value) {
    // 2^digits, which is exact in From; the largest To may not be.
    constexpr From beyond = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    constexpr From lowest = static_cast<From>(std::numeric_limits<To>::min());
    if (value >= beyond) return std::numeric_limits<To>::max();
    if (value < lowest) return std::numeric_limits<To>::min();
    return value == value ? static_cast<To>(value) : To(0);
  }
};

void infer_cast(InferContext& c) {
  expect_dtype_in<PlainTypes>(c, 0);
  const DType dtype = c.attr<DType>("dtype");
  if (!PlainTypes::contains(dtype))
    c.fail("a dtype of " + PlainTypes::names(), std::string(to_string(dtype)));
  c.add_output(dtype, c.input(0).shape);
}

std::vector<Output> cast_gradient(GradientContext& c) {
  if (!is_floating(c.input(0).dtype()) || !is_floating(c.output(0).dtype())) return {Output()};
  return {cast(c.gradient(), c.input(0).dtype())};
}

const OpDef& cast_op() {
  static const OpDef op{.name = "Cast",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"dtype", DType::invalid, true}},
                        .infer = infer_cast,
                        .gradient = cast_gradient};
  return op;
}

void cast_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const DType dtype = attr<DType>(c.node(), "dtype");
  if (x.dtype() == dtype) return c.set_output(0, x);
  Tensor& out = c.allocate_output(0, dtype, x.shape());
  dispatch<PlainTypes>(c, x, [&]<class From>() {
    dispatch<PlainTypes>(c, out, [&]<class To>() {
      run_unary<CastTo<To>>(c.device(), x.elements(), static_cast<const From*>(x.data()),
                            static_cast<To*>(out.mutable_data()));
    });
  });
}

}  // namespace

Output cast(Output x, DType dtype) {
  return x.dtype() == dtype ? x : add_node(cast_op(), {x}, {{"dtype", dtype}});
}

std::vector<Op> cast_ops() { return {on_all_devices<cast_kernel>(cast_op())}; }

}  // namespace actorflow

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

using WideTypes = NumericTypes;
using OldTypes = DTypes<float, double, std::int32_t, std::int64_t, bool, std::uint8_t>;
using ShortTypes = DTypes<Float16, BFloat16, std::int8_t, std::int16_t>;

template <class FromTypes, class ToTypes>
void cast_among(Device& device, const Tensor& x, Tensor& out) {
  FromTypes::dispatch(x.dtype(), [&]<class From>() {
    ToTypes::dispatch(out.dtype(), [&]<class To>() {
      run_unary<CastTo<To>>(device, x.elements(), static_cast<const From*>(x.data()),
                            static_cast<To*>(out.mutable_data()));
    });
  });
}

// float32 or int32, of which one holds all values of a dtype that is none of the wide ones.
DType wide_dtype(DType dtype) { return is_short_floating(dtype) ? DType::float32 : DType::int32; }

// The types of 16 bits and int8 are reached from the wide types, and left for the one that has all of
// their values, so that not every pair of types needs a loop.
bool is_one_step(DType from, DType to) {
  if (ShortTypes::contains(to)) return WideTypes::contains(from);
  return OldTypes::contains(from) || wide_dtype(from) == to;
}

Tensor in_one_step(Device& device, const Tensor& x, DType dtype) {
  Tensor out = Tensor::allocate(dtype, x.shape(), device.allocator());
  cast_among<OldTypes, OldTypes>(device, x, out);
  cast_among<WideTypes, ShortTypes>(device, x, out);
  cast_among<DTypes<Float16, BFloat16>, DTypes<float>>(device, x, out);
  cast_among<DTypes<std::int8_t, std::int16_t>, DTypes<std::int32_t>>(device, x, out);
  return out;
}

// Each value is rounded once.
Tensor converted(Device& device, const Tensor& x, DType dtype) {
  if (is_one_step(x.dtype(), dtype)) return in_one_step(device, x, dtype);
  return in_one_step(device, in_one_step(device, x, wide_dtype(x.dtype())), dtype);
}

void cast_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const DType dtype = attr<DType>(c.node(), "dtype");
  if (x.dtype() == dtype) return c.set_output(0, x);
  if (!PlainTypes::contains(x.dtype()))
    c.fail("a tensor of one of " + PlainTypes::names(), x.describe());
  if (!PlainTypes::contains(dtype))
    c.fail("a dtype of " + PlainTypes::names(), std::string(to_string(dtype)));
  c.set_output(0, converted(c.device(), x, dtype));
}

}  // namespace

Output cast(Output x, DType dtype) {
  return x.dtype() == dtype ? x : add_node(cast_op(), {x}, {{"dtype", dtype}});
}

std::vector<Op> cast_ops() { return {on_all_devices<cast_kernel>(cast_op())}; }

}  // namespace actorflow

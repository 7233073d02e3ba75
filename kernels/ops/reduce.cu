// Sum, Mean, Max, Min and ArgMax along axes.
#include <bitset>
#include <string>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/checked_axis.h"
#include "kernels/loops/short_floats.h"
#include "kernels/ops.h"
#include "kernels/ops/reduce.h"

namespace actorflow {
namespace {

using Axes = std::vector<std::int64_t>;
using AxisSet = std::bitset<Shape::max_rank>;

template <class Context>
AxisSet reduced_axes(const Context& c, const Axes& axes, int rank) {
  AxisSet set;
  if (axes.empty()) set.set();
  for (const auto axis : axes) {
    const auto bit = static_cast<std::size_t>(checked_axis(c, axis, rank));
    if (set[bit]) c.fail("axes that differ", "the axis " + std::to_string(axis) + " twice");
    set.set(bit);
  }
  return set;
}

Shape reduced_shape(const Shape& input, const AxisSet& reduced, bool keep_dims) {
  Shape shape;
  for (int axis = 0; axis < input.rank(); ++axis) {
    if (!reduced[static_cast<std::size_t>(axis)])
      shape.push_back(input[axis]);
    else if (keep_dims)
      shape.push_back(1);
  }
  return shape;
}

template <class Types>
void infer_reduce(InferContext& c) {
  expect_dtype_in<Types>(c, 0);
  const auto& axes = c.attr<Axes>("axes");
  const bool keep_dims = c.attr<bool>("keep_dims");
  const Shape& x = c.input(0).shape;
  if (x.has_rank())
    c.add_output(c.input(0).dtype, reduced_shape(x, reduced_axes(c, axes, x.rank()), keep_dims));
  else
    c.add_output(c.input(0).dtype, axes.empty() && !keep_dims ? Shape() : Shape::unknown_rank());
}

void infer_argmax(InferContext& c) {
  expect_dtype_in<NumericTypes>(c, 0);
  const Shape& x = c.input(0).shape;
  if (!x.has_rank()) return c.add_output(DType::int64, Shape::unknown_rank());
  AxisSet reduced;
  reduced.set(static_cast<std::size_t>(checked_axis(c, c.attr<std::int64_t>("axis"), x.rank())));
  c.add_output(DType::int64, reduced_shape(x, reduced, false));
}

// A tensor of the output's shape with the reduced dimensions back in place, as 1.
Output with_kept_dims(GradientContext& c, Output reduced) {
  const auto& axes = c.attr<Axes>("axes");
  const bool scalar = axes.empty();  // which broadcasts as it is
  return c.attr<bool>("keep_dims") || scalar ? reduced : expand_dims(reduced, axes);
}

std::vector<Output> sum_gradient(GradientContext& c) {
  return {broadcast_like(with_kept_dims(c, c.gradient()), c.input(0))};
}

std::vector<Output> mean_gradient(GradientContext& c) {
  return {spread_like(with_kept_dims(c, c.gradient()), c.input(0))};
}

std::vector<Output> extremum_gradient(GradientContext& c) {
  const Output x = c.input(0);
  // 16 bits cannot count far.
  const DType wide = is_short_floating(x.dtype()) ? DType::float32 : x.dtype();
  const Output is_extreme = cast(equal(x, with_kept_dims(c, c.output(0))), wide);
  const Output count = sum(is_extreme, c.attr<Axes>("axes"), true);
  return {cast(is_extreme / count * cast(with_kept_dims(c, c.gradient()), wide), x.dtype())};
}

template <class Types>
OpDef reduce_def(std::string_view name, decltype(OpDef::gradient) gradient) {
  return {.name = name,
          .min_inputs = 1,
          .max_inputs = 1,
          .attrs = {{"axes", Axes()}, {"keep_dims", false}},
          .infer = infer_reduce<Types>,
          .gradient = gradient};
}

const OpDef& sum_op() {
  static const OpDef op = reduce_def<ArithmeticTypes>("Sum", sum_gradient);
  return op;
}

const OpDef& mean_op() {
  static const OpDef op = reduce_def<AllFloatingTypes>("Mean", mean_gradient);
  return op;
}

const OpDef& max_op() {
  static const OpDef op = reduce_def<ArithmeticTypes>("Max", extremum_gradient);
  return op;
}

const OpDef& min_op() {
  static const OpDef op = reduce_def<ArithmeticTypes>("Min", extremum_gradient);
  return op;
}

const OpDef& argmax_op() {
  static const OpDef op{.name = "ArgMax",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"axis", std::int64_t{0}, true}},
                        .infer = infer_argmax};
  return op;
}

template <template <class> class Reducer, class Types>
void reduce_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const AxisSet reduced = reduced_axes(c, attr<Axes>(c.node(), "axes"), x.shape().rank());
  const Shape shape = reduced_shape(x.shape(), reduced, attr<bool>(c.node(), "keep_dims"));
  const auto loops =
      reduce_loops(x.shape(), [&](int axis) { return reduced[static_cast<std::size_t>(axis)]; });
  dispatch<Types>(c, x, [&]<class T>() {
    Tensor& out = c.allocate_output(0, x.dtype(), shape);
    reduce<Reducer<T>>(c.device(), loops, static_cast<const T*>(x.data()),
                       static_cast<T*>(out.mutable_data()));
  });
}

// The first largest element along the middle one of three axes; a NaN is larger than any number.
template <class T>
struct ArgMax {
  std::int64_t count, inner;
  const T* x;
  std::int64_t* out;
  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    const T* values = x + i / inner * count * inner + i % inner;
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < count; ++k) {
      const T value = values[k * inner], largest = values[best * inner];
      if (value > largest || (value != value && largest == largest)) best = k;
    }
    out[i] = best;
  }
};

template <class T>
void run_argmax(Device& device, std::int64_t results, const ArgMax<T>& body) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return launch(device, results, body);
#endif
  if (device.type() == DeviceType::cpu)
    for (std::int64_t i = 0; i < results; ++i) body(i);
}

void argmax_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const int axis = checked_axis(c, attr<std::int64_t>(c.node(), "axis"), x.shape().rank());
  const std::int64_t count = x.shape()[axis];
  AxisSet reduced;
  reduced.set(static_cast<std::size_t>(axis));
  Tensor& out = c.allocate_output(0, DType::int64, reduced_shape(x.shape(), reduced, false));
  if (out.elements() > 0 && count == 0) c.fail("at least one element along the axis", x.describe());
  const std::int64_t inner = dense_strides(x.shape())[static_cast<std::size_t>(axis)];
  dispatch<NumericTypes>(c, x, [&]<class T>() {
    run_argmax(c.device(), out.elements(),
               ArgMax<T>{count, inner, static_cast<const T*>(x.data()),
                         static_cast<std::int64_t*>(out.mutable_data())});
  });
}

Output add_reduce(const OpDef& op, Output x, const Axes& axes, bool keep_dims) {
  return add_node(op, {x}, {{"axes", axes}, {"keep_dims", keep_dims}});
}

}  // namespace

Output sum(Output x, const Axes& axes, bool keep_dims) {
  return add_reduce(sum_op(), x, axes, keep_dims);
}
Output mean(Output x, const Axes& axes, bool keep_dims) {
  return add_reduce(mean_op(), x, axes, keep_dims);
}
Output max(Output x, const Axes& axes, bool keep_dims) {
  return add_reduce(max_op(), x, axes, keep_dims);
}
Output min(Output x, const Axes& axes, bool keep_dims) {
  return add_reduce(min_op(), x, axes, keep_dims);
}
Output argmax(Output x, std::int64_t axis) { return add_node(argmax_op(), {x}, {{"axis", axis}}); }

std::vector<Op> reduce_ops() {
  return {on_all_devices<in_float32<reduce_kernel<SumReducer, NumericTypes>>>(sum_op()),
          on_all_devices<in_float32<reduce_kernel<MeanReducer, FloatingTypes>>>(mean_op()),
          on_all_devices<in_float32<reduce_kernel<MaxReducer, NumericTypes>>>(max_op()),
          on_all_devices<in_float32<reduce_kernel<MinReducer, NumericTypes>>>(min_op()),
          on_all_devices<argmax_kernel>(argmax_op())};
}

}  // namespace actorflow

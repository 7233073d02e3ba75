// SumLike, BroadcastLike and their averaging kin, which undo each other; ZerosLike, OnesLike and Fill.
#include <string>

#include "dataflow/values/error.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/loops/elementwise.h"
#include "kernels/loops/short_floats.h"
#include "kernels/ops.h"
#include "kernels/ops/reduce.h"

namespace actorflow {
namespace {

// Fails unless `small` broadcasts to `big`. Both kinds of context report it in terms of the node.
template <class Context>
void expect_broadcasts(const Context& c, const Shape& small, const Shape& big) {
  const auto mistake = [&] {
    c.fail("a shape that broadcasts to " + big.to_string(), small.to_string());
  };
  if (!small.has_rank() || !big.has_rank()) return;
  if (small.rank() > big.rank()) mistake();
  for (int axis = 0; axis < small.rank(); ++axis) {
    const auto dim = small[axis], target = big[big.rank() - small.rank() + axis];
    if (dim != target && dim != 1 && dim != Shape::unknown && target != Shape::unknown) mistake();
  }
}

template <class Types>
void infer_reduce_like(InferContext& c) {
  expect_dtype_in<Types>(c, 0);
  expect_broadcasts(c, c.input(1).shape, c.input(0).shape);
  c.add_output(c.input(0).dtype, c.input(1).shape);
}

template <class Types>
void infer_broadcast_like(InferContext& c) {
  expect_dtype_in<Types>(c, 0);
  expect_broadcasts(c, c.input(0).shape, c.input(1).shape);
  c.add_output(c.input(0).dtype, c.input(1).shape);
}

void infer_like(InferContext& c) {
  expect_dtype_in<PlainTypes>(c, 0);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

void infer_fill(InferContext& c) {
  const DType dtype = c.attr<DType>("dtype");
  const auto& shape = c.attr<Shape>("shape");
  if (!ArithmeticTypes::contains(dtype))
    c.fail("a dtype of " + ArithmeticTypes::names(), std::string(to_string(dtype)));
  if (!shape.fully_known()) c.fail("a fully known shape", shape.to_string());
  c.add_output(dtype, shape);
}

template <Output (*inverse)(Output, Output)>
std::vector<Output> inverse_gradient(GradientContext& c) {
  return {inverse(c.gradient(), c.input(0)), Output()};
}

OpDef like_def(std::string_view name, decltype(OpDef::infer) infer, decltype(OpDef::gradient) gradient) {
  return {.name = name, .min_inputs = 2, .max_inputs = 2, .infer = infer, .gradient = gradient};
}

const OpDef& sum_like_op() {
  static const OpDef op =
      like_def("SumLike", infer_reduce_like<ArithmeticTypes>, inverse_gradient<broadcast_like>);
  return op;
}

const OpDef& mean_like_op() {
  static const OpDef op =
      like_def("MeanLike", infer_reduce_like<AllFloatingTypes>, inverse_gradient<spread_like>);
  return op;
}

const OpDef& broadcast_like_op() {
  static const OpDef op =
      like_def("BroadcastLike", infer_broadcast_like<ArithmeticTypes>, inverse_gradient<sum_like>);
  return op;
}

const OpDef& spread_like_op() {
  static const OpDef op =
      like_def("SpreadLike", infer_broadcast_like<AllFloatingTypes>, inverse_gradient<mean_like>);
  return op;
}

const OpDef& zeros_like_op() {
  static const OpDef op{.name = "ZerosLike", .min_inputs = 1, .max_inputs = 1, .infer = infer_like};
  return op;
}

const OpDef& ones_like_op() {
  static const OpDef op{.name = "OnesLike", .min_inputs = 1, .max_inputs = 1, .infer = infer_like};
  return op;
}

const OpDef& fill_op() {
  static const OpDef op{
      .name = "Fill",
      .attrs = {{"dtype", DType::invalid, true}, {"shape", Shape(), true}, {"value", 0.0}},
      .infer = infer_fill};
  return op;
}

template <template <class> class Reducer, class Types>
void reduce_like_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const Shape& like = c.input(1).shape();
  if (x.shape() == like) return c.set_output(0, x);
  expect_broadcasts(c, like, x.shape());
  const int added = x.shape().rank() - like.rank();
  const auto loops =
      reduce_loops(x.shape(), [&](int axis) { return axis < added || like[axis - added] == 1; });
  dispatch<Types>(c, x, [&]<class T>() {
    Tensor& out = c.allocate_output(0, x.dtype(), like);
    reduce<Reducer<T>>(c.device(), loops, static_cast<const T*>(x.data()),
                       static_cast<T*>(out.mutable_data()));
  });
}

// x times a factor that is the same everywhere.
template <class T>
struct Scale {
  T factor;
  ACTORFLOW_HOST_DEVICE T operator()(T x) const { return x * factor; }
};

template <class T>
void scale_row(Scale<T> scale, std::int64_t count, const T* x, std::int64_t stride, T* out) {
  if (stride == 0)
    std::fill_n(out, count, scale(*x));
  else
    unary_loop(scale, count, x, out);
}

#ifdef ACTORFLOW_CUDA
template <class T>
struct BroadcastBody {
  Scale<T> scale;
  StridedLoops<1> loops;
  const T* x;
  T* out;
  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const { out[i] = scale(x[loops.offset(0, i)]); }
};
#endif

template <class T>
void run_broadcast(Device& device, const StridedLoops<1>& loops, Scale<T> scale, const T* x, T* out) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda)
    return launch(device, loops.elements, BroadcastBody<T>{scale, loops, x, out});
#endif
  if (device.type() == DeviceType::cpu)
    loops.for_each_row([&](std::int64_t first, const auto& offsets) {
      scale_row(scale, loops.row_length(), x + offsets[0], loops.row_stride(), out + first);
    });
}

template <bool share, class Types>
void broadcast_like_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const Shape& like = c.input(1).shape();
  if (x.shape() == like) return c.set_output(0, x);
  expect_broadcasts(c, x.shape(), like);
  dispatch<Types>(c, x, [&]<class T>() {
    Tensor& out = c.allocate_output(0, x.dtype(), like);
    T factor = 1;
    if (share)
      factor = static_cast<T>(x.elements()) / static_cast<T>(std::max<std::int64_t>(out.elements(), 1));
    run_broadcast(c.device(), broadcast_loops<1>(like, {x.shape()}), Scale<T>{factor},
                  static_cast<const T*>(x.data()), static_cast<T*>(out.mutable_data()));
  });
}

#ifdef ACTORFLOW_CUDA
template <class T>
struct FillBody {
  T value;
  T* out;
  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const { out[i] = value; }
};
#endif

void fill_with(OpContext& c, Tensor& out, double value) {
  dispatch<PlainTypes>(c, out, [&]<class T>() {
    auto* elements = static_cast<T*>(out.mutable_data());
#ifdef ACTORFLOW_CUDA
    if (c.device().type() == DeviceType::cuda)
      return launch(c.device(), out.elements(), FillBody<T>{static_cast<T>(value), elements});
#endif
    std::fill_n(elements, out.elements(), static_cast<T>(value));
  });
}

template <int value>
void constant_like_kernel(OpContext& c) {
  fill_with(c, c.allocate_output(0, c.input(0).dtype(), c.input(0).shape()), value);
}

void fill_kernel(OpContext& c) {
  Tensor& out = c.allocate_output(0, attr<DType>(c.node(), "dtype"), attr<Shape>(c.node(), "shape"));
  fill_with(c, out, attr<double>(c.node(), "value"));
}

// `op` where it has something to do, else x.
Output unless_same_shape(const OpDef& op, Output x, Output like) {
  const bool same = x && like && x.shape().fully_known() && x.shape() == like.shape();
  return same ? x : add_node(op, {x, like});
}

}  // namespace

Output sum_like(Output x, Output like) { return unless_same_shape(sum_like_op(), x, like); }
Output mean_like(Output x, Output like) { return unless_same_shape(mean_like_op(), x, like); }
Output broadcast_like(Output x, Output like) { return unless_same_shape(broadcast_like_op(), x, like); }
Output spread_like(Output x, Output like) { return unless_same_shape(spread_like_op(), x, like); }
Output zeros_like(Output x) { return add_node(zeros_like_op(), {x}); }
Output ones_like(Output x) { return add_node(ones_like_op(), {x}); }
Output fill(Graph& graph, const Shape& shape, double value, DType dtype) {
  return graph.add(fill_op(), {}, {{"dtype", dtype}, {"shape", shape}, {"value", value}});
}

std::vector<Op> broadcast_ops() {
  return {on_all_devices<in_float32<reduce_like_kernel<SumReducer, NumericTypes>>>(sum_like_op()),
          on_all_devices<in_float32<reduce_like_kernel<MeanReducer, FloatingTypes>>>(mean_like_op()),
          on_all_devices<in_float32<broadcast_like_kernel<false, NumericTypes>>>(broadcast_like_op()),
          on_all_devices<in_float32<broadcast_like_kernel<true, FloatingTypes>>>(spread_like_op()),
          on_all_devices<constant_like_kernel<0>>(zeros_like_op()),
          on_all_devices<constant_like_kernel<1>>(ones_like_op()),
          on_all_devices<fill_kernel>(fill_op())};
}

}  // namespace actorflow

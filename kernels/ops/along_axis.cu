// TakeAlongAxis: an index of its own for each line along an axis; and AddAlongAxis, its gradient.
#include <algorithm>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/checked_axis.h"
#include "kernels/loops/indexing.h"
#include "kernels/loops/short_floats.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/loops/sorted_scatter.h"
#endif

namespace actorflow {
namespace {

const OpDef& add_along_axis_op();

// Fails unless both have the same dimensions but along the axis.
template <class Context>
int matching_axis(const Context& c, std::int64_t wanted, const Shape& x, const Shape& indices) {
  const int axis = checked_axis(c, wanted, x.rank());
  Shape expected = x;
  if (indices.rank() == x.rank()) expected.set(axis, indices[axis]);
  if (!expected.compatible_with(indices))
    c.fail("indices of the shape of " + x.to_string() + ", but along axis " + std::to_string(axis),
           indices.to_string());
  return axis;
}

void infer_take(InferContext& c) {
  expect_dtype_in<PlainTypes>(c, 0);
  expect_dtype_in<IndexTypes>(c, 1);
  const Shape &x = c.input(0).shape, &indices = c.input(1).shape;
  if (x.has_rank() && indices.has_rank()) matching_axis(c, c.attr<std::int64_t>("axis"), x, indices);
  c.add_output(c.input(0).dtype, indices);
}

void infer_add(InferContext& c) {
  expect_dtype_in<ArithmeticTypes>(c, 0);
  expect_dtype_in<IndexTypes>(c, 1);
  if (c.input(0).dtype != c.input(2).dtype)
    c.fail("values of the tensor's dtype", c.input(0).to_string() + " and " + c.input(2).to_string());
  const Shape &indices = c.input(1).shape, &like = c.input(2).shape;
  if (like.has_rank() && indices.has_rank())
    matching_axis(c, c.attr<std::int64_t>("axis"), like, indices);
  c.add_output(c.input(2).dtype, like);
}

// An index that occurs several times sums up.
std::vector<Output> take_gradient(GradientContext& c) {
  return {c.graph().add(add_along_axis_op(), {c.gradient(), c.input(1), c.input(0)}, c.node().attrs),
          Output()};
}

std::vector<Output> add_along_gradient(GradientContext& c) {
  return {take_along_axis(c.gradient(), c.input(1), c.attr<std::int64_t>("axis")), Output(), Output()};
}

OpDef along_def(std::string_view name, int inputs, decltype(OpDef::infer) infer,
                decltype(OpDef::gradient) gradient) {
  return {.name = name,
          .min_inputs = inputs,
          .max_inputs = inputs,
          .attrs = {{"axis", std::int64_t{-1}}},
          .infer = infer,
          .gradient = gradient};
}

const OpDef& take_along_axis_op() {
  static const OpDef op = along_def("TakeAlongAxis", 2, infer_take, take_gradient);
  return op;
}

const OpDef& add_along_axis_op() {
  static const OpDef op = along_def("AddAlongAxis", 3, infer_add, add_along_gradient);
  return op;
}

// Element k of line `line`, as places in the tensor of the indices and in the whole one; and the line of
// a place among the indices.
struct Lines {
  std::int64_t dim, inner, count;

  ACTORFLOW_HOST_DEVICE std::int64_t chosen(std::int64_t line, std::int64_t k) const {
    return (line / inner * count + k) * inner + line % inner;
  }
  ACTORFLOW_HOST_DEVICE std::int64_t whole(std::int64_t line, std::int64_t index) const {
    return (line / inner * dim + index) * inner + line % inner;
  }
  ACTORFLOW_HOST_DEVICE std::int64_t line_of(std::int64_t place) const {
    return place / inner / count * inner + place % inner;
  }
};

template <class T, class Index>
struct AlongAxis {
  Lines lines;
  std::int64_t number;  // of lines
  const T* from;
  const Index* indices;
  T* out;

  // The place in the whole tensor that the index at a place of the line chooses, or -1.
  ACTORFLOW_HOST_DEVICE std::int64_t target(std::int64_t line, std::int64_t place) const {
    const auto index = static_cast<std::int64_t>(indices[place]);
    return index >= 0 && index < lines.dim ? lines.whole(line, index) : -1;
  }
  ACTORFLOW_HOST_DEVICE void take(std::int64_t line, std::int64_t place) const {
    const std::int64_t chosen = target(line, place);
    out[place] = chosen >= 0 ? from[chosen] : T(0);
  }
  ACTORFLOW_HOST_DEVICE void add_line(std::int64_t line) const {
    for (std::int64_t k = 0; k < lines.count; ++k) {
      const std::int64_t place = lines.chosen(line, k), chosen = target(line, place);
      if (chosen >= 0) AddTo()(out[chosen], from[place]);
    }
  }
};

#ifdef ACTORFLOW_CUDA
template <class T, class Index>
void take_on_cuda(Device& device, const AlongAxis<T, Index>& all) {
  launch(device, all.number * all.lines.count, [=] __device__(std::int64_t i) { all.take(all.lines.line_of(i), i); });
}

// The elements sorted by their places in the whole tensor.
template <class Int, class T, class Index>
void add_by_sorting(Device& device, const AlongAxis<T, Index>& all) {
  const std::int64_t count = all.number * all.lines.count, end = all.number * all.lines.dim;
  const auto target = [=] __device__(std::int64_t i) { return all.target(all.lines.line_of(i), i); };
  const auto sorted = sort_indices<Int>(device, count, end, target);
  add_sorted<AddTo>(device, SortedUpdates<Int, T>{
                                {.dim = end, .count = count}, sorted.view(), all.from, all.out});
}

// Short lines are a thread's each.
template <class T, class Index>
void add_on_cuda(Device& device, const AlongAxis<T, Index>& all) {
  constexpr std::int64_t short_line = 32;
  if (all.lines.count <= short_line)
    return launch(device, all.number, [=] __device__(std::int64_t line) { all.add_line(line); });
  with_int_for(all.number * all.lines.count, all.number * all.lines.dim,
               [&]<class Int>() { add_by_sorting<Int>(device, all); });
}
#endif

struct TakeBody {
  template <class T, class Index>
  void operator()([[maybe_unused]] Device& device, const AlongAxis<T, Index>& all) const {
#ifdef ACTORFLOW_CUDA
    if (device.type() == DeviceType::cuda) return take_on_cuda(device, all);
#endif
    for (std::int64_t line = 0; line < all.number; ++line)
      for (std::int64_t k = 0; k < all.lines.count; ++k) all.take(line, all.lines.chosen(line, k));
  }
};

struct AddBody {
  template <class T, class Index>
  void operator()([[maybe_unused]] Device& device, const AlongAxis<T, Index>& all) const {
#ifdef ACTORFLOW_CUDA
    if (device.type() == DeviceType::cuda) return add_on_cuda(device, all);
#endif
    for (std::int64_t line = 0; line < all.number; ++line) all.add_line(line);
  }
};

// Both kernels: `whole` is the tensor that the indices choose from.
template <class Body, class T>
void run(OpContext& c, const Shape& whole, Tensor& out) {
  const Tensor &from = c.input(0), &indices = c.input(1);
  const int axis = matching_axis(c, attr<std::int64_t>(c.node(), "axis"), whole, indices.shape());
  const Indexed view = indexed(whole, axis, indices.shape()[axis]);
  const Lines lines{view.dim, view.inner, view.count};
  dispatch<IndexTypes>(c, indices, [&]<class Index>() {
    if (c.device().type() == DeviceType::cpu) check_indices<Index>(c, view.dim);
    Body()(c.device(),
           AlongAxis<T, Index>{lines, view.outer * view.inner, static_cast<const T*>(from.data()),
                               static_cast<const Index*>(indices.data()),
                               static_cast<T*>(out.mutable_data())});
  });
}

void take_kernel(OpContext& c) {
  Tensor& out = c.allocate_output(0, c.input(0).dtype(), c.input(1).shape());
  dispatch_by_size(c, c.input(0), [&]<class T>() { run<TakeBody, T>(c, c.input(0).shape(), out); });
}

void add_along(OpContext& c) {
  Tensor& out = c.allocate_output(0, c.input(2).dtype(), c.input(2).shape());
  clear(c.device(), out);
  dispatch<NumericTypes>(c, c.input(0), [&]<class T>() { run<AddBody, T>(c, c.input(2).shape(), out); });
}

void add_kernel(OpContext& c) {
  if (c.input(0).shape() != c.input(1).shape() || c.input(0).dtype() != c.input(2).dtype())
    c.fail("values of the indices' shape and of one dtype with the tensor",
           c.input(0).describe() + ", " + c.input(1).describe() + " and " + c.input(2).describe());
  compute_in_float32(c, add_along);
}

}  // namespace

Output take_along_axis(Output x, Output indices, std::int64_t axis) {
  return add_node(take_along_axis_op(), {x, indices}, {{"axis", axis}});
}

Output add_along_axis(Output values, Output indices, Output like, std::int64_t axis) {
  return add_node(add_along_axis_op(), {values, indices, like}, {{"axis", axis}});
}

std::vector<Op> along_axis_ops() {
  return {on_all_devices<take_kernel>(take_along_axis_op()),
          on_all_devices<add_kernel>(add_along_axis_op())};
}

}  // namespace actorflow

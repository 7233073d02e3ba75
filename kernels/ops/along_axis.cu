// TakeAlongAxis: an index of its own for each line along an axis; and AddAlongAxis, its gradient.
#include <algorithm>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/indexing.h"
#include "kernels/loops/short_floats.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

const OpDef& add_along_axis_op();

// Fails unless both have the same dimensions but along the axis.
template <class Context>
int matching_axis(const Context& c, std::int64_t wanted, const Shape& x, const Shape& indices) {
  const int axis = indexed_axis(c, wanted, x);
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

// Element k of line `line`, as places in the tensor of the indices and in the whole one.
struct Lines {
  std::int64_t dim, inner, count;

  ACTORFLOW_HOST_DEVICE std::int64_t chosen(std::int64_t line, std::int64_t k) const {
    return (line / inner * count + k) * inner + line % inner;
  }
  ACTORFLOW_HOST_DEVICE std::int64_t whole(std::int64_t line, std::int64_t index) const {
    return (line / inner * dim + index) * inner + line % inner;
  }
};

template <class T, class Index>
ACTORFLOW_HOST_DEVICE void take_line(const Lines& lines, std::int64_t line, const T* x,
                                     const Index* indices, T* out) {
  for (std::int64_t k = 0; k < lines.count; ++k) {
    const std::int64_t place = lines.chosen(line, k), index = indices[place];
    out[place] = index >= 0 && index < lines.dim ? x[lines.whole(line, index)] : T(0);
  }
}

template <class T, class Index>
ACTORFLOW_HOST_DEVICE void add_line(const Lines& lines, std::int64_t line, const T* g,
                                    const Index* indices, T* out) {
  for (std::int64_t k = 0; k < lines.count; ++k) {
    const std::int64_t place = lines.chosen(line, k), index = indices[place];
    if (index >= 0 && index < lines.dim) out[lines.whole(line, index)] += g[place];
  }
}

// Calls body(line) for every line; each is written by one thread only.
template <class Body>
void for_each_line([[maybe_unused]] Device& device, std::int64_t count, const Body& body) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return launch(device, count, body);
#endif
  for (std::int64_t line = 0; line < count; ++line) body(line);
}

template <class T, class Index>
struct TakeBody {
  Lines lines;
  const T* x;
  const Index* indices;
  T* out;
  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t line) const {
    take_line(lines, line, x, indices, out);
  }
};

template <class T, class Index>
struct AddBody {
  Lines lines;
  const T* g;
  const Index* indices;
  T* out;
  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t line) const {
    add_line(lines, line, g, indices, out);
  }
};

// Both kernels: `whole` is the tensor that the indices choose from.
template <template <class, class> class Body, class T>
void run(OpContext& c, const Shape& whole, Tensor& out) {
  const Tensor &from = c.input(0), &indices = c.input(1);
  const int axis = matching_axis(c, attr<std::int64_t>(c.node(), "axis"), whole, indices.shape());
  const Indexed view = indexed(whole, axis, indices.shape()[axis]);
  const Lines lines{view.dim, view.inner, view.count};
  dispatch<IndexTypes>(c, indices, [&]<class Index>() {
    if (c.device().type() == DeviceType::cpu) check_indices<Index>(c, view.dim);
    for_each_line(
        c.device(), view.outer * view.inner,
        Body<T, Index>{lines, static_cast<const T*>(from.data()),
                       static_cast<const Index*>(indices.data()), static_cast<T*>(out.mutable_data())});
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

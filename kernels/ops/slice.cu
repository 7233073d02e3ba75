// Slice, Pad and their kin SliceLike and PadLike, which undo each other; Concat and its gradient.
#include <algorithm>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/checked_axis.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

using List = std::vector<std::int64_t>;

const OpDef& slice_like_op();
const OpDef& pad_like_op();
const OpDef& concat_grad_op();

template <class Context>
void expect_entry_per_axis(const Context& c, std::string_view name, const List& list,
                           const Shape& shape) {
  if (shape.has_rank() && static_cast<int>(list.size()) != shape.rank())
    c.fail("as many entries in '" + std::string(name) + "' as " + shape.to_string() + " has dimensions",
           std::to_string(list.size()));
}

// Fails unless a box of that shape at `begin` lies within `whole`, as far as both are known.
template <class Context>
void expect_inside(const Context& c, const List& begin, const Shape& box, const Shape& whole) {
  expect_entry_per_axis(c, "begin", begin, whole);
  expect_entry_per_axis(c, "begin", begin, box);
  if (!box.has_rank() || !whole.has_rank()) return;
  for (int axis = 0; axis < box.rank(); ++axis) {
    const auto first = begin[static_cast<std::size_t>(axis)], dim = whole[axis];
    const bool known = dim != Shape::unknown;
    if (first < 0 || (known && (first > dim || std::max<std::int64_t>(box[axis], 0) > dim - first)))
      c.fail("a part of " + whole.to_string(), box.to_string() + " from " + std::to_string(first) +
                                                   " on along axis " + std::to_string(axis));
  }
}

// The shape of a slice: -1 in `size` is up to the end. With `ends` every size must reach there.
template <class Context>
Shape sliced_shape(const Context& c, const List& begin, const List& size, bool ends, const Shape& x) {
  if (size.size() != begin.size() || begin.size() > Shape::max_rank)
    c.fail("as many entries in 'size' as in 'begin', at most 8", std::to_string(size.size()));
  expect_entry_per_axis(c, "begin", begin, x);
  Shape shape;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const auto dim = x.has_rank() ? x[static_cast<int>(i)] : Shape::unknown;
    const bool to_end = size[i] == -1 && dim != Shape::unknown;
    if (size[i] < -1 || (to_end && begin[i] > dim))
      c.fail("a part of " + x.to_string(), "a size of " + std::to_string(size[i]) + " from " +
                                               std::to_string(begin[i]) + " on along axis " +
                                               std::to_string(i));
    if (ends && dim != Shape::unknown && size[i] >= 0 && begin[i] + size[i] != dim)
      c.fail("axis " + std::to_string(i) + " of " + x.to_string() + " to be as long as its parts together",
             std::to_string(begin[i] + size[i]));
    shape.push_back(to_end ? dim - begin[i] : size[i]);
  }
  expect_inside(c, begin, shape, x);
  return shape;
}

// Fails where the sizes along an axis are, together, more than any tensor has.
template <class Context>
std::int64_t sum_of_sizes(const Context& c, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    c.fail("a dimension below 2^63", std::to_string(a) + " and " + std::to_string(b) + " together");
  return sum;
}

template <class Context>
Shape padded_shape(const Context& c, const List& before, const List& after, const Shape& x) {
  if (!x.has_rank()) return x;
  expect_entry_per_axis(c, "before", before, x);
  expect_entry_per_axis(c, "after", after, x);
  Shape shape = x;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto left = before[static_cast<std::size_t>(axis)],
               right = after[static_cast<std::size_t>(axis)];
    if (left < 0 || right < 0)
      c.fail("no negative padding",
             std::to_string(std::min(left, right)) + " along axis " + std::to_string(axis));
    if (x[axis] != Shape::unknown)
      shape.set(axis, sum_of_sizes(c, sum_of_sizes(c, left, x[axis]), right));
  }
  return shape;
}

// `whole` grown by one part. The other axes must agree.
template <class Context>
Shape joined(const Context& c, Shape whole, Shape part, int axis) {
  const auto mistake = [&] {
    c.fail("parts that agree but along axis " + std::to_string(axis),
           whole.to_string() + " and " + part.to_string());
  };
  if (part.rank() != whole.rank()) mistake();
  const bool known = whole[axis] != Shape::unknown && part[axis] != Shape::unknown;
  const auto length = known ? sum_of_sizes(c, whole[axis], part[axis]) : Shape::unknown;
  part.set(axis, whole[axis]);
  if (!whole.compatible_with(part)) mistake();
  whole = whole.merge(part);
  whole.set(axis, length);
  return whole;
}

void infer_slice(InferContext& c) {
  c.add_output(c.input(0).dtype, sliced_shape(c, c.attr<List>("begin"), c.attr<List>("size"),
                                              c.attr<bool>("ends"), c.input(0).shape));
}

void infer_slice_like(InferContext& c) {
  expect_inside(c, c.attr<List>("begin"), c.input(1).shape, c.input(0).shape);
  c.add_output(c.input(0).dtype, c.input(1).shape);
}

void infer_pad(InferContext& c) {
  expect_dtype_in<PlainTypes>(c, 0);
  c.add_output(c.input(0).dtype,
               padded_shape(c, c.attr<List>("before"), c.attr<List>("after"), c.input(0).shape));
}

void infer_pad_like(InferContext& c) {
  expect_dtype_in<PlainTypes>(c, 0);
  expect_inside(c, c.attr<List>("begin"), c.input(0).shape, c.input(1).shape);
  c.add_output(c.input(0).dtype, c.input(1).shape);
}

void infer_concat(InferContext& c) {
  c.expect_same_dtype();
  for (int i = 0; i < c.inputs(); ++i)
    if (!c.input(i).shape.has_rank()) return c.add_output(c.input(0).dtype, Shape::unknown_rank());
  Shape shape = c.input(0).shape;
  const int axis = checked_axis(c, c.attr<std::int64_t>("axis"), shape.rank());
  for (int i = 1; i < c.inputs(); ++i) shape = joined(c, shape, c.input(i).shape, axis);
  c.add_output(c.input(0).dtype, shape);
}

void infer_concat_grad(InferContext& c) {
  for (int i = 1; i < c.inputs(); ++i) c.add_output(c.input(0).dtype, c.input(i).shape);
}

std::vector<Output> slice_gradient(GradientContext& c) {
  return {c.graph().add(pad_like_op(), {c.gradient(), c.input(0)}, {{"begin", c.attr<List>("begin")}})};
}

std::vector<Output> slice_like_gradient(GradientContext& c) {
  return {slice_gradient(c).front(), Output()};
}

std::vector<Output> pad_gradient(GradientContext& c) {
  return {
      c.graph().add(slice_like_op(), {c.gradient(), c.input(0)}, {{"begin", c.attr<List>("before")}})};
}

std::vector<Output> pad_like_gradient(GradientContext& c) {
  const Attrs begin{{"begin", c.attr<List>("begin")}};
  return {c.graph().add(slice_like_op(), {c.gradient(), c.input(0)}, begin), Output()};
}

std::vector<Output> concat_gradient(GradientContext& c) {
  const int parts = static_cast<int>(c.node().inputs.size());
  std::vector<Output> inputs{c.gradient()};
  for (int i = 0; i < parts; ++i) inputs.push_back(c.input(i));
  const Output first = c.graph().add(concat_grad_op(), inputs, {{"axis", c.attr<std::int64_t>("axis")}});
  std::vector<Output> gradients;
  for (int i = 0; i < parts; ++i) gradients.push_back(first.output(i));
  return gradients;
}

// Each part takes from the gradient only, and puts it into its own place.
std::vector<Output> concat_grad_gradient(GradientContext& c) {
  const int inputs = static_cast<int>(c.node().inputs.size());
  std::vector<Output> parts, gradients(c.node().inputs.size());
  for (int i = 1; i < inputs; ++i)
    parts.push_back(c.gradient(i - 1) ? c.gradient(i - 1) : zeros_like(c.input(i)));
  gradients[0] = concat(parts, c.attr<std::int64_t>("axis"));
  return gradients;
}

const OpDef& slice_op() {
  static const OpDef op{.name = "Slice",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"begin", List(), true}, {"size", List(), true}, {"ends", false}},
                        .infer = infer_slice,
                        .gradient = slice_gradient};
  return op;
}

// (x, like) -> the part of x from `begin` on that has the shape of `like`.
const OpDef& slice_like_op() {
  static const OpDef op{.name = "SliceLike",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {{"begin", List(), true}},
                        .infer = infer_slice_like,
                        .gradient = slice_like_gradient};
  return op;
}

const OpDef& pad_op() {
  static const OpDef op{.name = "Pad",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"before", List(), true}, {"after", List(), true}},
                        .infer = infer_pad,
                        .gradient = pad_gradient};
  return op;
}

// (x, like) -> zeros of the shape of `like`, with x from `begin` on.
const OpDef& pad_like_op() {
  static const OpDef op{.name = "PadLike",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {{"begin", List(), true}},
                        .infer = infer_pad_like,
                        .gradient = pad_like_gradient};
  return op;
}

const OpDef& concat_op() {
  static const OpDef op{.name = "Concat",
                        .min_inputs = 1,
                        .max_inputs = OpDef::any_number,
                        .attrs = {{"axis", std::int64_t{0}, true}},
                        .infer = infer_concat,
                        .gradient = concat_gradient};
  return op;
}

// (gradient, parts...) -> the gradient of each part.
const OpDef& concat_grad_op() {
  static const OpDef op{.name = "ConcatGrad",
                        .min_inputs = 2,
                        .max_inputs = OpDef::any_number,
                        .attrs = {{"axis", std::int64_t{0}, true}},
                        .infer = infer_concat_grad,
                        .gradient = concat_grad_gradient};
  return op;
}

// The place of an index in a tensor without gaps.
std::int64_t offset_of(const List& index, const Shape& shape) {
  const auto strides = dense_strides(shape);
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * strides[axis];
  return offset;
}

void slice_to(OpContext& c, const List& begin, const Shape& shape) {
  const Tensor& x = c.input(0);
  if (x.shape() == shape) return c.set_output(0, x);
  Tensor& out = c.allocate_output(0, x.dtype(), shape);
  strided_copy(c.device(), box_loops(shape, x.shape(), shape), {x, offset_of(begin, x.shape())}, {out});
}

void slice_kernel(OpContext& c) {
  const auto& begin = attr<List>(c.node(), "begin");
  slice_to(c, begin,
           sliced_shape(c, begin, attr<List>(c.node(), "size"), attr<bool>(c.node(), "ends"),
                        c.input(0).shape()));
}

void slice_like_kernel(OpContext& c) {
  const auto& begin = attr<List>(c.node(), "begin");
  expect_inside(c, begin, c.input(1).shape(), c.input(0).shape());
  slice_to(c, begin, c.input(1).shape());
}

void pad_to(OpContext& c, const List& begin, const Shape& shape) {
  const Tensor& x = c.input(0);
  if (x.shape() == shape) return c.set_output(0, x);
  Tensor& out = c.allocate_output(0, x.dtype(), shape);
  clear(c.device(), out);
  strided_copy(c.device(), box_loops(x.shape(), x.shape(), shape), {x}, {out, offset_of(begin, shape)});
}

void pad_kernel(OpContext& c) {
  const auto& before = attr<List>(c.node(), "before");
  pad_to(c, before, padded_shape(c, before, attr<List>(c.node(), "after"), c.input(0).shape()));
}

void pad_like_kernel(OpContext& c) {
  const auto& begin = attr<List>(c.node(), "begin");
  expect_inside(c, begin, c.input(0).shape(), c.input(1).shape());
  pad_to(c, begin, c.input(1).shape());
}

// The shape of the inputs from `first` on, joined.
Shape joined_inputs(const OpContext& c, int first, int axis) {
  Shape shape = c.input(first).shape();
  for (int i = first + 1; i < c.inputs(); ++i) shape = joined(c, shape, c.input(i).shape(), axis);
  return shape;
}

void concat_kernel(OpContext& c) {
  const int axis = checked_axis(c, attr<std::int64_t>(c.node(), "axis"), c.input(0).shape().rank());
  Tensor& out = c.allocate_output(0, c.input(0).dtype(), joined_inputs(c, 0, axis));
  const auto stride = dense_strides(out.shape())[static_cast<std::size_t>(axis)];
  std::int64_t offset = 0;
  for (int i = 0; i < c.inputs(); ++i) {
    const Tensor& part = c.input(i);
    strided_copy(c.device(), box_loops(part.shape(), part.shape(), out.shape()), {part}, {out, offset});
    offset += part.shape()[axis] * stride;
  }
}

void concat_grad_kernel(OpContext& c) {
  const Tensor& whole = c.input(0);
  const int axis = checked_axis(c, attr<std::int64_t>(c.node(), "axis"), whole.shape().rank());
  if (joined_inputs(c, 1, axis) != whole.shape())
    c.fail("a gradient of the joined shape " + joined_inputs(c, 1, axis).to_string(), whole.describe());
  const auto stride = dense_strides(whole.shape())[static_cast<std::size_t>(axis)];
  std::int64_t offset = 0;
  for (int i = 1; i < c.inputs(); ++i) {
    const Shape& shape = c.input(i).shape();
    Tensor& part = c.allocate_output(i - 1, whole.dtype(), shape);
    strided_copy(c.device(), box_loops(shape, whole.shape(), shape), {whole, offset}, {part});
    offset += shape[axis] * stride;
  }
}

}  // namespace

Output slice(Output x, const List& begin, const List& size) {
  return add_node(slice_op(), {x}, {{"begin", begin}, {"size", size}});
}

Output slice_to_end(Output x, const List& begin, const List& size) {
  return add_node(slice_op(), {x}, {{"begin", begin}, {"size", size}, {"ends", true}});
}

Output concat(const std::vector<Output>& parts, std::int64_t axis) {
  if (parts.empty()) throw invalid_argument("concat() needs at least one tensor, but got none");
  return add_node(concat_op(), parts, {{"axis", axis}});
}

Output pad(Output x, const List& before, const List& after) {
  return add_node(pad_op(), {x}, {{"before", before}, {"after", after}});
}

std::vector<Op> slice_ops() {
  return {
      on_all_devices<slice_kernel>(slice_op()),   on_all_devices<slice_like_kernel>(slice_like_op()),
      on_all_devices<pad_kernel>(pad_op()),       on_all_devices<pad_like_kernel>(pad_like_op()),
      on_all_devices<concat_kernel>(concat_op()), on_all_devices<concat_grad_kernel>(concat_grad_op())};
}

}  // namespace actorflow

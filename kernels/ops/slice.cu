// Slice, Pad and their kin SliceLike and PadLike, which undo each other.
#include <algorithm>
#include <string>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/loops/sum_of_sizes.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

using List = std::vector<std::int64_t>;

const OpDef& slice_like_op();
const OpDef& pad_like_op();

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

}  // namespace

Output slice(Output x, const List& begin, const List& size) {
  return add_node(slice_op(), {x}, {{"begin", begin}, {"size", size}});
}

Output slice_to_end(Output x, const List& begin, const List& size) {
  return add_node(slice_op(), {x}, {{"begin", begin}, {"size", size}, {"ends", true}});
}

Output pad(Output x, const List& before, const List& after) {
  return add_node(pad_op(), {x}, {{"before", before}, {"after", after}});
}

std::vector<Op> slice_ops() {
  return {on_all_devices<slice_kernel>(slice_op()), on_all_devices<slice_like_kernel>(slice_like_op()),
          on_all_devices<pad_kernel>(pad_op()), on_all_devices<pad_like_kernel>(pad_like_op())};
}

}  // namespace actorflow

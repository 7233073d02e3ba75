// Reshape, ReshapeLike, ExpandDims, Transpose and ShapeOf. All but Transpose leave the bytes alone.
#include <algorithm>
#include <numeric>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

using List = std::vector<std::int64_t>;

// `wanted` with its open dimension filled in, where it and the shape of x are known well enough.
template <class Context>
Shape reshaped_shape(const Context& c, const Shape& wanted, const Shape& x) {
  const auto open = std::ranges::count(wanted.dims(), Shape::unknown);
  if (!wanted.has_rank() || open > 1)
    c.fail("a shape with at most one dimension of -1", wanted.to_string());
  if (!x.fully_known()) return wanted;
  const std::int64_t elements = x.elements();
  Shape shape = wanted;
  std::int64_t known = 1;
  bool fits = true;
  for (const auto dim : wanted.dims())
    if (dim != Shape::unknown) fits = fits && !__builtin_mul_overflow(known, dim, &known);
  fits = fits && (open == 0 ? known == elements : known > 0 && elements % known == 0);
  if (!fits)
    c.fail("a shape of " + std::to_string(elements) + " elements, as " + x.to_string(),
           wanted.to_string());
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] == Shape::unknown) shape.set(axis, elements / known);
  return shape;
}

void infer_reshape(InferContext& c) {
  c.add_output(c.input(0).dtype, reshaped_shape(c, c.attr<Shape>("shape"), c.input(0).shape));
}

void infer_reshape_like(InferContext& c) {
  const Shape &x = c.input(0).shape, &like = c.input(1).shape;
  if (x.fully_known() && like.fully_known() && x.elements() != like.elements())
    c.fail("two tensors of as many elements", c.input(0).to_string() + " and " + c.input(1).to_string());
  c.add_output(c.input(0).dtype, like);
}

template <class Context>
Shape expanded_shape(const Context& c, const List& axes, const Shape& x) {
  if (!x.has_rank()) return x;
  const auto rank = static_cast<std::int64_t>(axes.size()) + x.rank();
  if (rank > Shape::max_rank) c.fail("at most 8 dimensions", std::to_string(rank));
  std::vector<bool> inserted(static_cast<std::size_t>(rank));
  for (const auto axis : axes) {
    const std::int64_t place = axis < 0 ? axis + rank : axis;
    if (place < 0 || place >= rank || inserted[static_cast<std::size_t>(place)])
      c.fail("different axes from " + std::to_string(-rank) + " to " + std::to_string(rank - 1),
             std::to_string(axis));
    inserted[static_cast<std::size_t>(place)] = true;
  }
  Shape shape;
  int next = 0;
  for (const bool is_new : inserted) shape.push_back(is_new ? 1 : x[next++]);
  return shape;
}

void infer_expand_dims(InferContext& c) {
  c.add_output(c.input(0).dtype, expanded_shape(c, c.attr<List>("axes"), c.input(0).shape));
}

// The permutation itself, or the reversal of the axes for an empty one.
template <class Context>
List full_permutation(const Context& c, List permutation, int rank) {
  List axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (permutation.empty()) permutation.assign(axes.rbegin(), axes.rend());
  if (!std::ranges::is_permutation(permutation, axes)) {
    std::string text;
    for (const auto axis : permutation) text += (text.empty() ? "" : ", ") + std::to_string(axis);
    c.fail("a permutation of the axes 0 to " + std::to_string(rank - 1), "(" + text + ")");
  }
  return permutation;
}

Shape permuted(const Shape& x, const List& permutation) {
  Shape shape;
  for (const auto axis : permutation) shape.push_back(x[static_cast<int>(axis)]);
  return shape;
}

void infer_transpose(InferContext& c) {
  const Shape& x = c.input(0).shape;
  if (!x.has_rank()) return c.add_output(c.input(0).dtype, x);
  c.add_output(c.input(0).dtype,
               permuted(x, full_permutation(c, c.attr<List>("permutation"), x.rank())));
}

void infer_shape_of(InferContext& c) {
  const Shape& x = c.input(0).shape;
  c.add_output(DType::int64, {x.has_rank() ? x.rank() : Shape::unknown});
}

const OpDef& reshape_like_op();

// The gradient with the shape of the input.
std::vector<Output> reshape_gradient(GradientContext& c) {
  const Output x = c.input(0);
  if (x.shape().fully_known()) return {reshape(c.gradient(), x.shape())};
  return {c.graph().add(reshape_like_op(), {c.gradient(), x})};
}

std::vector<Output> reshape_like_gradient(GradientContext& c) {
  return {reshape_gradient(c).front(), Output()};
}

std::vector<Output> transpose_gradient(GradientContext& c) {
  const auto& permutation = c.attr<List>("permutation");
  List inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return {transpose(c.gradient(), inverse)};
}

const OpDef& reshape_op() {
  static const OpDef op{.name = "Reshape",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"shape", Shape(), true}},
                        .infer = infer_reshape,
                        .gradient = reshape_gradient};
  return op;
}

const OpDef& reshape_like_op() {
  static const OpDef op{.name = "ReshapeLike",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer_reshape_like,
                        .gradient = reshape_like_gradient};
  return op;
}

const OpDef& expand_dims_op() {
  static const OpDef op{.name = "ExpandDims",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"axes", List(), true}},
                        .infer = infer_expand_dims,
                        .gradient = reshape_gradient};
  return op;
}

const OpDef& transpose_op() {
  static const OpDef op{.name = "Transpose",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"permutation", List()}},
                        .infer = infer_transpose,
                        .gradient = transpose_gradient};
  return op;
}

const OpDef& shape_of_op() {
  static const OpDef op{
      .name = "ShapeOf", .min_inputs = 1, .max_inputs = 1, .infer = infer_shape_of, .needs_host = true};
  return op;
}

void reshape_kernel(OpContext& c) {
  const Shape shape = reshaped_shape(c, attr<Shape>(c.node(), "shape"), c.input(0).shape());
  c.set_output(0, c.input(0).reshaped(shape));
}

void reshape_like_kernel(OpContext& c) { c.set_output(0, c.input(0).reshaped(c.input(1).shape())); }

void expand_dims_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  c.set_output(0, x.reshaped(expanded_shape(c, attr<List>(c.node(), "axes"), x.shape())));
}

void transpose_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const List permutation = full_permutation(c, attr<List>(c.node(), "permutation"), x.shape().rank());
  const Shape shape = permuted(x.shape(), permutation);
  const auto from = dense_strides(x.shape()), to = dense_strides(shape);
  StridedLoops<2> loops;
  for (std::size_t i = 0; i < permutation.size(); ++i)
    loops.append(shape[static_cast<int>(i)], {from[static_cast<std::size_t>(permutation[i])], to[i]});
  loops.finish();
  if (loops.contiguous()) return c.set_output(0, x.reshaped(shape));
  strided_copy(c.device(), loops, {x}, {c.allocate_output(0, x.dtype(), shape)});
}

void shape_of_kernel(OpContext& c) {
  const Shape& shape = c.input(0).shape();
  const List dims(shape.dims().begin(), shape.dims().end());
  c.set_output(0, c.device().to_device(Tensor::of({shape.rank()}, dims)));
}

}  // namespace

Output reshape(Output x, const Shape& shape) {
  return x.shape() == shape && shape.fully_known() ? x : add_node(reshape_op(), {x}, {{"shape", shape}});
}
Output expand_dims(Output x, const List& axes) {
  return add_node(expand_dims_op(), {x}, {{"axes", axes}});
}
Output transpose(Output x, const List& permutation) {
  return add_node(transpose_op(), {x}, {{"permutation", permutation}});
}
Output shape_of(Output x) { return add_node(shape_of_op(), {x}); }

std::vector<Op> shape_ops() {
  return {on_all_devices<reshape_kernel>(reshape_op()),
          on_all_devices<reshape_like_kernel>(reshape_like_op()),
          on_all_devices<expand_dims_kernel>(expand_dims_op()),
          on_all_devices<transpose_kernel>(transpose_op()),
          on_all_devices<shape_of_kernel>(shape_of_op())};
}

}  // namespace actorflow

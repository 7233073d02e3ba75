// Concat and its gradient.
#include <string>

#include "dataflow/values/error.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/checked_axis.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/loops/sum_of_sizes.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

const OpDef& concat_grad_op();

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

Output concat(const std::vector<Output>& parts, std::int64_t axis) {
  if (parts.empty()) throw invalid_argument("concat() needs at least one tensor, but got none");
  return add_node(concat_op(), parts, {{"axis", axis}});
}

std::vector<Op> concat_ops() {
  return {on_all_devices<concat_kernel>(concat_op()),
          on_all_devices<concat_grad_kernel>(concat_grad_op())};
}

}  // namespace actorflow

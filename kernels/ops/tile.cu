// Tile, which repeats a tensor along its axes, and TileGrad, which adds the copies up again.
#include <string>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/short_floats.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#include "kernels/ops/reduce.h"

namespace actorflow {
namespace {

using List = std::vector<std::int64_t>;

const OpDef& tile_grad_op();

// Fails unless there is one multiple of 1 or more for each axis, and the loops over copies and elements
// fit into a shape.
template <class Context>
void expect_multiples(const Context& c, const List& multiples, const Shape& x) {
  if (static_cast<int>(multiples.size()) != x.rank())
    c.fail("as many multiples as " + x.to_string() + " has dimensions",
           std::to_string(multiples.size()));
  int loops = x.rank();
  for (const auto multiple : multiples) {
    if (multiple < 1) c.fail("multiples of 1 or more", std::to_string(multiple));
    if (multiple > 1) ++loops;
  }
  if (loops > Shape::max_rank)
    c.fail("at most 8 dimensions and repeated axes together", std::to_string(loops) + " of them");
}

template <class Context>
Shape tiled_shape(const Context& c, const List& multiples, const Shape& x) {
  expect_multiples(c, multiples, x);
  Shape shape;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto multiple = multiples[static_cast<std::size_t>(axis)];
    std::int64_t dim = x[axis];
    if (dim != Shape::unknown && __builtin_mul_overflow(dim, multiple, &dim))
      c.fail("dimensions below 2^63",
             x.to_string() + " " + std::to_string(multiple) + " times along axis " + std::to_string(axis));
    shape.push_back(dim);
  }
  return shape;
}

void infer_tile(InferContext& c) {
  const auto& multiples = c.attr<List>("multiples");
  const Shape& x = c.input(0).shape;
  if (!x.has_rank()) return c.add_output(c.input(0).dtype, x);
  c.add_output(c.input(0).dtype, tiled_shape(c, multiples, x));
}

// The shape of which `tiled` is the tiling.
template <class Context>
Shape untiled_shape(const Context& c, const List& multiples, const Shape& tiled) {
  expect_multiples(c, multiples, tiled);
  Shape shape;
  for (int axis = 0; axis < tiled.rank(); ++axis) {
    const auto multiple = multiples[static_cast<std::size_t>(axis)], dim = tiled[axis];
    if (dim != Shape::unknown && dim % multiple != 0)
      c.fail("a dimension that " + std::to_string(multiple) + " divides", tiled.to_string());
    shape.push_back(dim == Shape::unknown ? dim : dim / multiple);
  }
  return shape;
}

void infer_tile_grad(InferContext& c) {
  expect_dtype_in<ArithmeticTypes>(c, 0);
  const Shape& g = c.input(0).shape;
  c.add_output(c.input(0).dtype, g.has_rank() ? untiled_shape(c, c.attr<List>("multiples"), g) : g);
}

std::vector<Output> tile_gradient(GradientContext& c) {
  return {c.graph().add(tile_grad_op(), {c.gradient()}, c.node().attrs)};
}

std::vector<Output> tile_grad_gradient(GradientContext& c) {
  return {tile(c.gradient(), c.attr<List>("multiples"))};
}

OpDef tile_def(std::string_view name, decltype(OpDef::infer) infer, decltype(OpDef::gradient) gradient) {
  return {.name = name,
          .min_inputs = 1,
          .max_inputs = 1,
          .attrs = {{.name = "multiples", .example = List(), .required = true}},
          .infer = infer,
          .gradient = gradient};
}

const OpDef& tile_op() {
  static const OpDef op = tile_def("Tile", infer_tile, tile_gradient);
  return op;
}

const OpDef& tile_grad_op() {
  static const OpDef op = tile_def("TileGrad", infer_tile_grad, tile_grad_gradient);
  return op;
}

// Operand 0 is the tensor, which stays where it is from copy to copy; operand 1 is the result.
StridedLoops<2> tiling_loops(const Shape& x, const List& multiples, const Shape& tiled) {
  const auto from = dense_strides(x), to = dense_strides(tiled);
  StridedLoops<2> loops;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    loops.append(multiples[i], {0, to[i] * x[axis]});
    loops.append(x[axis], {from[i], to[i]});
  }
  loops.finish();
  return loops;
}

void tile_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const auto& multiples = attr<List>(c.node(), "multiples");
  Tensor& out = c.allocate_output(0, x.dtype(), tiled_shape(c, multiples, x.shape()));
  if (out.elements() > 0)
    strided_copy(c.device(), tiling_loops(x.shape(), multiples, out.shape()), {x}, {out});
}

void tile_grad_kernel(OpContext& c) {
  const Tensor& g = c.input(0);
  const auto& multiples = attr<List>(c.node(), "multiples");
  const Shape shape = untiled_shape(c, multiples, g.shape());
  Shape parted;  // with a dimension for the copies in front of each that is repeated
  std::vector<bool> is_copy;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto multiple = multiples[static_cast<std::size_t>(axis)];
    if (multiple > 1) parted.push_back(multiple), is_copy.push_back(true);
    parted.push_back(shape[axis]), is_copy.push_back(false);
  }
  const auto loops =
      reduce_loops(parted, [&](int axis) { return is_copy[static_cast<std::size_t>(axis)]; });
  Tensor& out = c.allocate_output(0, g.dtype(), shape);
  dispatch<NumericTypes>(c, g, [&]<class T>() {
    reduce<SumReducer<T>>(c.device(), loops, static_cast<const T*>(g.data()),
                          static_cast<T*>(out.mutable_data()));
  });
}

}  // namespace

Output tile(Output x, const std::vector<std::int64_t>& multiples) {
  return add_node(tile_op(), {x}, {{"multiples", multiples}});
}

std::vector<Op> tile_ops() {
  return {on_all_devices<tile_kernel>(tile_op()),
          on_all_devices<in_float32<tile_grad_kernel>>(tile_grad_op())};
}

}  // namespace actorflow

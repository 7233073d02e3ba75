// An op of a user's own, with shape function, gradient and kernel, from outside of the tree.
#include <cmath>
#include <iostream>

#include "actors/actorflow.h"
#include "kernels/core/dtypes.h"
#include "kernels/core/kernel.h"

using namespace actorflow;

namespace {

void infer_cube(InferContext& c) {
  expect_dtype_in<FloatingTypes>(c, 0);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

std::vector<Output> cube_gradient(GradientContext& c) { return {c.gradient() * square(c.input(0)) * 3}; }

const OpDef& cube_op() {
  static const OpDef op{
      .name = "Cube", .min_inputs = 1, .max_inputs = 1, .infer = infer_cube, .gradient = cube_gradient};
  return op;
}

void cube_kernel(OpContext& c) {
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    const Tensor x = c.input(0);
    Tensor& out = c.allocate_output(0, x.dtype(), x.shape());
    const auto from = x.values<T>();
    const auto to = out.mutable_values<T>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] * from[i] * from[i];
  });
}

}  // namespace

int main() {
  Graph g;
  const Variable x = g.variable("x", g.constant({2.0, 3.0}));
  const Output cubes = add_node(cube_op(), {x});
  const Output slope = gradients(sum(cubes), {x})[0];
  Session session(g, {}, {.ops = {{&cube_op(), stateless<cube_kernel>}}});
  session.initialize_variables();
  const auto values = session.run({cubes, slope});
  for (const auto& tensor : values)
    for (const double value : tensor.values<double>()) std::cout << value << " ";
  std::cout << "\n";
}

// BiasAdd: one value per column of a matrix of rows, and BiasAddGrad: the sums of the columns.
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/devices/host_device.h"
#include "kernels/loops/columns.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/short_floats.h"
#include "kernels/loops/vectorised.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/loops/add_bias.h"
#include "kernels/loops/relu.h"
#endif

namespace actorflow {
namespace {

const OpDef& bias_add_op();
const OpDef& bias_add_grad_op();

void infer_bias_add(InferContext& c) {
  expect_rows<AllFloatingTypes>(c);
  c.expect_same_dtype();
  c.expect_rank(1, 1);
  const Shape &x = c.input(0).shape, &bias = c.input(1).shape;
  if (x.has_rank() && bias.has_rank() && !Shape({x[x.rank() - 1]}).compatible_with(bias))
    c.fail("a bias with one value per column",
           c.input(0).to_string() + " and " + c.input(1).to_string());
  c.add_output(c.input(0).dtype, x);
}

std::vector<Output> bias_add_gradient(GradientContext& c) {
  return {c.gradient(), c.graph().add(bias_add_grad_op(), {c.gradient()})};
}

void infer_bias_add_grad(InferContext& c) {
  expect_rows<AllFloatingTypes>(c);
  const Shape& gradient = c.input(0).shape;
  c.add_output(c.input(0).dtype, {gradient.has_rank() ? gradient[gradient.rank() - 1] : Shape::unknown});
}

// Every row had the same part in the sum.
std::vector<Output> bias_add_grad_gradient(GradientContext& c) {
  return {bias_add(zeros_like(c.input(0)), c.gradient())};
}

const OpDef& bias_add_op() {
  static const OpDef op{.name = "BiasAdd",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer_bias_add,
                        .gradient = bias_add_gradient};
  return op;
}

const OpDef& bias_add_grad_op() {
  static const OpDef op{.name = "BiasAddGrad",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = infer_bias_add_grad,
                        .gradient = bias_add_grad_gradient};
  return op;
}

template <class T>
void add_bias_on_cpu(Rows size, const T* x, const T* bias, T* output) {
  vectorised([=] {
    for (std::int64_t row = 0; row < size.rows; ++row) {
      const T* from = x + row * size.columns;
      T* to = output + row * size.columns;
#pragma GCC ivdep
      for (std::int64_t j = 0; j < size.columns; ++j) to[j] = from[j] + bias[j];
    }
  });
}

template <class T>
struct Stored {
  const T* x;
  const T* run(std::int64_t first, std::int64_t) const { return x + first; }
#ifdef ACTORFLOW_CUDA
  bool aligned() const { return in_fours(4, x); }
  template <int n, bool aligned>
  __device__ Pack<T, n> load(std::int64_t i) const {
    return load_elements<n, aligned>(x + i);
  }
  template <int n, bool aligned>
  __device__ Pack<T, n> take(std::int64_t, const Pack<T, n>& loaded) const {
    return loaded;
  }
#endif
};

template <class T>
void add_bias(Device& device, Rows size, const T* x, const T* bias, T* output) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return add_bias_on_cuda<Same>(device, size, x, bias, output);
#endif
  if (device.type() == DeviceType::cpu) add_bias_on_cpu(size, x, bias, output);
}

void compute_bias_add(OpContext& c) {
  const Tensor &x = c.input(0), &bias = c.input(1);
  const Rows size = rows_of(c, x);
  if (bias.dtype() != x.dtype() || bias.shape() != Shape({size.columns}))
    c.fail("a bias with one value per column", x.describe() + " and " + bias.describe());
  dispatch<FloatingTypes>(c, x, [&]<class T>() {
    Tensor& output = c.forward_or_allocate(0, 0, x.dtype(), x.shape());
    add_bias(c.device(), size, static_cast<const T*>(x.data()), static_cast<const T*>(bias.data()),
             static_cast<T*>(output.mutable_data()));
  });
}

void compute_bias_add_grad(OpContext& c) {
  const Tensor& gradient = c.input(0);
  const Rows size = rows_of(c, gradient);
  dispatch<FloatingTypes>(c, gradient, [&]<class T>() {
    Tensor& sums = c.allocate_output(0, gradient.dtype(), {size.columns});
    sum_columns(c, size, Stored<T>{static_cast<const T*>(gradient.data())},
                static_cast<T*>(sums.mutable_data()));
  });
}

}  // namespace

Output bias_add(Output x, Output bias) { return add_node(bias_add_op(), {x, bias}); }

std::vector<Op> bias_ops() {
  return {on_all_devices<in_float32<compute_bias_add>>(bias_add_op()),
          on_all_devices<in_float32<compute_bias_add_grad>>(bias_add_grad_op())};
}

}  // namespace actorflow

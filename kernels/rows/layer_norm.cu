// LayerNorm over the last axis, and its gradient, each in one go over the rows.
// Ba, Kiros and Hinton, Layer Normalization (2016).
#include <algorithm>
#include <cmath>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/vectorised.h"
#include "kernels/ops.h"
#include "kernels/ops/reduce.h"
#include "kernels/rows/layer_norm.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/rows/layer_norm_cuda.h"
#endif

namespace actorflow {
namespace {

// Fails unless input `i` has one value per column of input 0.
void expect_one_per_column(const InferContext& c, int i) {
  c.expect_rank(i, 1);
  const Shape &x = c.input(0).shape, &values = c.input(i).shape;
  if (x.has_rank() && values.has_rank() && !Shape({x[x.rank() - 1]}).compatible_with(values))
    c.fail("input " + std::to_string(i) + " with one value per column",
           c.input(0).to_string() + " and " + c.input(i).to_string());
}

void infer_layer_norm(InferContext& c) {
  expect_rows(c);
  c.expect_same_dtype();
  expect_one_per_column(c, 1);
  expect_one_per_column(c, 2);
  if (!(c.attr<double>("epsilon") >= 0))
    c.fail("an epsilon of 0 or more", std::to_string(c.attr<double>("epsilon")));
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

void infer_layer_norm_grad(InferContext& c) {
  expect_rows(c);
  c.expect_same_dtype();
  expect_one_per_column(c, 2);
  c.add_output(c.input(0).dtype, c.input(1).shape);
  c.add_output(c.input(0).dtype, c.input(2).shape);
  c.add_output(c.input(0).dtype, c.input(2).shape);
}

// With h the normalised x and e = g gamma: dx = (e - mean(e) - h mean(e h)) scale.
std::vector<Output> layer_norm_second_gradient(GradientContext& c) {
  const Output g = c.input(0), x = c.input(1), gamma = c.input(2);
  const auto mean_of_row = [](Output values) { return mean(values, {-1}, true); };
  const Output centred = x - mean_of_row(x);
  const Output scale = rsqrt(mean_of_row(centred * centred) + c.attr<double>("epsilon"));
  const Output h = centred * scale, e = g * gamma;
  return gradients_of_composition(
      c, {(e - mean_of_row(e) - h * mean_of_row(e * h)) * scale, sum_like(g * h, gamma), sum_like(g, gamma)});
}

// (g, x, gamma) -> the gradients of x, gamma and beta.
const OpDef& layer_norm_grad_op() {
  static const OpDef op{.name = "LayerNormGrad",
                        .min_inputs = 3,
                        .max_inputs = 3,
                        .attrs = {{"epsilon", 0.0, true}},
                        .infer = infer_layer_norm_grad,
                        .gradient = layer_norm_second_gradient};
  return op;
}

std::vector<Output> layer_norm_gradient(GradientContext& c) {
  const Output grad = c.graph().add(layer_norm_grad_op(), {c.gradient(), c.input(0), c.input(1)},
                                    {{"epsilon", c.attr<double>("epsilon")}});
  return {grad, grad.output(1), grad.output(2)};
}

const OpDef& layer_norm_op() {
  static const OpDef op{.name = "LayerNorm",
                        .min_inputs = 3,
                        .max_inputs = 3,
                        .attrs = {{"epsilon", 0.001}},
                        .infer = infer_layer_norm,
                        .gradient = layer_norm_gradient};
  return op;
}

// One pass over the row would lose digits where the mean is large: two. `scratch` takes the squares.
template <class T>
RowMoments<T> moments_of_row(std::int64_t columns, const T* x, double epsilon, T* scratch) {
  const auto count = static_cast<double>(columns);
  const T mean = static_cast<T>(reduce_run<SumReducer<T>>(x, columns) / count);
#pragma GCC ivdep
  for (std::int64_t j = 0; j < columns; ++j) scratch[j] = (x[j] - mean) * (x[j] - mean);
  const double variance = reduce_run<SumReducer<T>>(scratch, columns) / count;
  return {mean, static_cast<T>(1 / std::sqrt(variance + epsilon))};
}

template <class T>
void normalise_on_cpu(const LayerNormForward<T>& f, T* scratch) {
  vectorised([=] {
    const std::int64_t columns = f.size.columns;
    for (std::int64_t row = 0; row < f.size.rows; ++row) {
      const T* x = f.x + row * columns;
      T* y = f.y + row * columns;
      const RowMoments<T> m = moments_of_row(columns, x, f.epsilon, scratch);
#pragma GCC ivdep
      for (std::int64_t j = 0; j < columns; ++j)
        y[j] = (x[j] - m.mean) * m.scale * f.gamma[j] + f.beta[j];
    }
  });
}

// With h the normalised x and e = g gamma: dx = (e - mean(e) - h mean(e h)) scale. `totals` are those of
// gamma's gradient and of beta's, in double.
template <class T>
void backward_row(const LayerNormBackward<T>& b, std::int64_t row, T* h, T* scratch, double* totals) {
  const std::int64_t columns = b.size.columns;
  const auto count = static_cast<double>(columns);
  const T *g = b.g + row * columns, *x = b.x + row * columns, *gamma = b.gamma;
  T* dx = b.dx + row * columns;
  const RowMoments<T> m = moments_of_row(columns, x, b.epsilon, scratch);
#pragma GCC ivdep
  for (std::int64_t j = 0; j < columns; ++j) h[j] = (x[j] - m.mean) * m.scale;
#pragma GCC ivdep
  for (std::int64_t j = 0; j < columns; ++j) {
    totals[j] += static_cast<double>(g[j] * h[j]);
    totals[columns + j] += static_cast<double>(g[j]);
  }
#pragma GCC ivdep
  for (std::int64_t j = 0; j < columns; ++j) scratch[j] = g[j] * gamma[j];
  const T mean = static_cast<T>(reduce_run<SumReducer<T>>(scratch, columns) / count);
#pragma GCC ivdep
  for (std::int64_t j = 0; j < columns; ++j) scratch[j] *= h[j];
  const T along = static_cast<T>(reduce_run<SumReducer<T>>(scratch, columns) / count);
#pragma GCC ivdep
  for (std::int64_t j = 0; j < columns; ++j) dx[j] = (g[j] * gamma[j] - mean - h[j] * along) * m.scale;
}

template <class T>
void backward_on_cpu(const LayerNormBackward<T>& b, T* scratch, double* totals) {
  vectorised([=] {
    const std::int64_t columns = b.size.columns;
    std::fill_n(totals, 2 * columns, 0.0);
    for (std::int64_t row = 0; row < b.size.rows; ++row)
      backward_row(b, row, scratch, scratch + columns, totals);
    for (std::int64_t j = 0; j < columns; ++j) b.dgamma[j] = static_cast<T>(totals[j]);
    for (std::int64_t j = 0; j < columns; ++j) b.dbeta[j] = static_cast<T>(totals[columns + j]);
  });
}

template <class T>
T* elements_of(const BufferRef& memory) {
  return static_cast<T*>(memory->data());
}

template <class T>
void run(OpContext& c, const LayerNormForward<T>& f) {
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda) return normalise_on_cuda(c.device(), f);
#endif
  const BufferRef scratch = c.scratch(static_cast<std::size_t>(f.size.columns) * sizeof(T));
  normalise_on_cpu(f, elements_of<T>(scratch));
}

template <class T>
void run(OpContext& c, const LayerNormBackward<T>& b) {
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda) return backward_on_cuda(c.device(), b);
#endif
  const auto pairs = 2 * static_cast<std::size_t>(b.size.columns);
  const BufferRef scratch = c.scratch(pairs * sizeof(T)), totals = c.scratch(pairs * sizeof(double));
  backward_on_cpu(b, elements_of<T>(scratch), elements_of<double>(totals));
}

void check_columns(const OpContext& c, Rows size, int input) {
  if (c.input(input).dtype() != c.input(0).dtype() || c.input(input).shape() != Shape({size.columns}))
    c.fail("one value per column", c.input(0).describe() + " and " + c.input(input).describe());
}

void layer_norm_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const Rows size = rows_of(c, x);
  for (const int input : {1, 2}) check_columns(c, size, input);
  dispatch<FloatingTypes>(c, x, [&]<class T>() {
    const auto values = [&](int input) { return static_cast<const T*>(c.input(input).data()); };
    Tensor& y = c.forward_or_allocate(0, 0, x.dtype(), x.shape());
    run(c, LayerNormForward<T>{size, attr<double>(c.node(), "epsilon"), values(0), values(1), values(2),
                      static_cast<T*>(y.mutable_data())});
  });
}

void layer_norm_grad_kernel(OpContext& c) {
  const Tensor &g = c.input(0), &x = c.input(1), &gamma = c.input(2);
  const Rows size = rows_of(c, g);
  check_columns(c, size, 2);
  if (x.dtype() != g.dtype() || x.shape() != g.shape())
    c.fail("a gradient of the type of x", g.describe() + " and " + x.describe());
  dispatch<FloatingTypes>(c, g, [&]<class T>() {
    const auto values = [&](int input) { return static_cast<const T*>(c.input(input).data()); };
    const auto output = [&](int i, const Shape& shape) {
      return static_cast<T*>(c.allocate_output(i, g.dtype(), shape).mutable_data());
    };
    run(c, LayerNormBackward<T>{size, attr<double>(c.node(), "epsilon"), values(0), values(1), values(2),
                       output(0, x.shape()), output(1, gamma.shape()), output(2, gamma.shape())});
  });
}

}  // namespace

Output layer_norm(Output x, Output gamma, Output beta, double epsilon) {
  return add_node(layer_norm_op(), {x, gamma, beta}, {{"epsilon", epsilon}});
}

std::vector<Op> layer_norm_ops() {
  return {on_all_devices<layer_norm_kernel>(layer_norm_op()),
          on_all_devices<layer_norm_grad_kernel>(layer_norm_grad_op())};
}

}  // namespace actorflow

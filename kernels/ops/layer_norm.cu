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
#ifdef ACTORFLOW_CUDA
#include "kernels/loops/warp_rows.h"
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

// What a row is normalised with: (x - mean) * scale.
template <class T>
struct Moments {
  T mean, scale;
};

// One pass over the row would lose digits where the mean is large: two. `scratch` takes the squares.
template <class T>
Moments<T> moments_of_row(std::int64_t columns, const T* x, double epsilon, T* scratch) {
  const auto count = static_cast<double>(columns);
  const T mean = static_cast<T>(reduce_run<SumReducer<T>>(x, columns) / count);
#pragma GCC ivdep
  for (std::int64_t j = 0; j < columns; ++j) scratch[j] = (x[j] - mean) * (x[j] - mean);
  const double variance = reduce_run<SumReducer<T>>(scratch, columns) / count;
  return {mean, static_cast<T>(1 / std::sqrt(variance + epsilon))};
}

template <class T>
struct Forward {
  Rows size;
  double epsilon;
  const T *x, *gamma, *beta;
  T* y;
};

template <class T>
void normalise_on_cpu(const Forward<T>& f, T* scratch) {
  vectorised([=] {
    const std::int64_t columns = f.size.columns;
    for (std::int64_t row = 0; row < f.size.rows; ++row) {
      const T* x = f.x + row * columns;
      T* y = f.y + row * columns;
      const Moments<T> m = moments_of_row(columns, x, f.epsilon, scratch);
#pragma GCC ivdep
      for (std::int64_t j = 0; j < columns; ++j)
        y[j] = (x[j] - m.mean) * m.scale * f.gamma[j] + f.beta[j];
    }
  });
}

template <class T>
struct LayerNormBackward {
  Rows size;
  double epsilon;
  const T *g, *x, *gamma;
  T *dx, *dgamma, *dbeta;
};

// With h the normalised x and e = g gamma: dx = (e - mean(e) - h mean(e h)) scale. `totals` are those of
// gamma's gradient and of beta's, in double.
template <class T>
void backward_row(const LayerNormBackward<T>& b, std::int64_t row, T* h, T* scratch, double* totals) {
  const std::int64_t columns = b.size.columns;
  const auto count = static_cast<double>(columns);
  const T *g = b.g + row * columns, *x = b.x + row * columns, *gamma = b.gamma;
  T* dx = b.dx + row * columns;
  const Moments<T> m = moments_of_row(columns, x, b.epsilon, scratch);
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

#ifdef ACTORFLOW_CUDA

// The mean over a row of what the threads of its warp have summed up. The few terms of one thread are
// summed up in T: a GPU converts to double at an eighth of the rate at which it adds.
template <class T>
__device__ T mean_in_warp(T sum, std::int64_t columns) {
  return static_cast<T>(sum_in_warp(static_cast<double>(sum)) / static_cast<double>(columns));
}

template <class T, class Row>
__device__ Moments<T> moments_of(const Row& row, std::int64_t columns, double epsilon) {
  T sum = 0, squares = 0;
  row.for_each([&](std::int64_t, T x) { sum += x; });
  const T mean = mean_in_warp(sum, columns);
  row.for_each([&](std::int64_t, T x) { squares += (x - mean) * (x - mean); });
  return {mean, 1 / std::sqrt(mean_in_warp(squares, columns) + static_cast<T>(epsilon))};
}

// Of rows that a warp's registers hold.
template <int n, int per_thread, class T>
void normalise_narrow(Device& device, const Forward<T>& f) {
  launch_rows(device, f.size.rows, [=] __device__(std::int64_t row_index) {
    const std::int64_t columns = f.size.columns, first = row_index * columns;
    const PackedRow<T, n, per_thread> row(columns, f.x + first);
    const Moments<T> m = moments_of<T>(row, columns, f.epsilon);
    row.for_each_pack([&](int j, const Pack<T, n>& x) {
      const Pack<T, n> gamma = load_pack<n>(f.gamma + j), beta = load_pack<n>(f.beta + j);
      Pack<T, n> y;
#pragma unroll
      for (int k = 0; k < n; ++k)
        y.values[k] = (x.values[k] - m.mean) * m.scale * gamma.values[k] + beta.values[k];
      store_pack(f.y + first + j, y);
    });
  });
}

template <int n, int per_thread, class T>
void backward_narrow(Device& device, const LayerNormBackward<T>& b, Moments<T>* moments) {
  launch_rows(device, b.size.rows, [=] __device__(std::int64_t row_index) {
    const std::int64_t columns = b.size.columns, first = row_index * columns;
    const PackedRow<T, n, per_thread> row(columns, b.x + first);
    PackedRow<T, n, per_thread> e(columns, b.g + first);
    const Moments<T> m = moments_of<T>(row, columns, b.epsilon);
    e.for_each_pack([&](int j, Pack<T, n>& g) {
      const Pack<T, n> gamma = load_pack<n>(b.gamma + j);
#pragma unroll
      for (int k = 0; k < n; ++k) g.values[k] *= gamma.values[k];
    });
    T sum = 0, product = 0;
    row.for_each_pair(e, row, [&](int, const Pack<T, n>& value, const Pack<T, n>& x) {
#pragma unroll
      for (int k = 0; k < n; ++k) {
        sum += value.values[k];
        product += value.values[k] * ((x.values[k] - m.mean) * m.scale);
      }
    });
    const T mean = mean_in_warp(sum, columns), along = mean_in_warp(product, columns);
    row.for_each_pair(e, row, [&](int j, const Pack<T, n>& value, const Pack<T, n>& x) {
      Pack<T, n> dx;
#pragma unroll
      for (int k = 0; k < n; ++k)
        dx.values[k] = (value.values[k] - mean - (x.values[k] - m.mean) * m.scale * along) * m.scale;
      store_pack(b.dx + first + j, dx);
    });
    if (threadIdx.x == 0) moments[row_index] = m;
  });
}

using BlockSum = cub::BlockReduce<double, cuda_block_threads>;

// The sum over a block of threads, for all of them.
__device__ double block_sum(double value) {
  __shared__ typename BlockSum::TempStorage scratch;
  __shared__ double total;
  const double sum = BlockSum(scratch).Sum(value);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  const double result = total;
  __syncthreads();  // before the next call overwrites both
  return result;
}

template <class T>
__device__ Moments<T> moments_on_cuda(std::int64_t columns, const T* x, double epsilon) {
  const auto count = static_cast<double>(columns);
  double sum = 0;
  for (std::int64_t j = threadIdx.x; j < columns; j += blockDim.x) sum += static_cast<double>(x[j]);
  const T mean = static_cast<T>(block_sum(sum) / count);
  double squares = 0;
  for (std::int64_t j = threadIdx.x; j < columns; j += blockDim.x)
    squares += static_cast<double>((x[j] - mean) * (x[j] - mean));
  return {mean, static_cast<T>(1 / std::sqrt(block_sum(squares) / count + epsilon))};
}

// A block of threads takes a row at a time.
template <class T>
__global__ void normalise_kernel(Forward<T> f) {
  const std::int64_t columns = f.size.columns;
  for (std::int64_t row = blockIdx.x; row < f.size.rows; row += gridDim.x) {
    const T* x = f.x + row * columns;
    const Moments<T> m = moments_on_cuda(columns, x, f.epsilon);
    for (std::int64_t j = threadIdx.x; j < columns; j += blockDim.x)
      f.y[row * columns + j] = (x[j] - m.mean) * m.scale * f.gamma[j] + f.beta[j];
  }
}

// Keeps the rows' moments, which the columns' sums need too.
template <class T>
__global__ void backward_kernel(LayerNormBackward<T> b, Moments<T>* moments) {
  const std::int64_t columns = b.size.columns;
  const auto count = static_cast<double>(columns);
  for (std::int64_t row = blockIdx.x; row < b.size.rows; row += gridDim.x) {
    const T *g = b.g + row * columns, *x = b.x + row * columns;
    const Moments<T> m = moments_on_cuda(columns, x, b.epsilon);
    double sum = 0, product = 0;
    for (std::int64_t j = threadIdx.x; j < columns; j += blockDim.x) {
      const T e = g[j] * b.gamma[j];
      sum += static_cast<double>(e);
      product += static_cast<double>(e * (x[j] - m.mean) * m.scale);
    }
    const T mean = static_cast<T>(block_sum(sum) / count);
    const T along = static_cast<T>(block_sum(product) / count);
    for (std::int64_t j = threadIdx.x; j < columns; j += blockDim.x)
      b.dx[row * columns + j] = (g[j] * b.gamma[j] - mean - (x[j] - m.mean) * m.scale * along) * m.scale;
    if (threadIdx.x == 0) moments[row] = m;
  }
}

// Of the gradients of gamma and of beta.
template <class T>
struct ColumnGradientTerm {
  const T *g, *x;
  const Moments<T>* moments;
  __device__ TwoSumsFold::Accumulator operator()(MatrixPlace at) const {
    const Moments<T> m = moments[at.row];
    const T g_here = g[at.index];
    return {static_cast<double>(g_here * (x[at.index] - m.mean) * m.scale), static_cast<double>(g_here)};
  }
};

unsigned blocks_for(std::int64_t rows) {
  return static_cast<unsigned>(std::min<std::int64_t>(rows, 8192));
}

template <class T>
void normalise_on_cuda(Device& device, const Forward<T>& f) {
  if (f.size.rows == 0) return;
  if (f.size.columns <= most_narrow_columns)
    return with_elements_per_thread(f.size.columns, [&]<int per_thread>() {
      in_fours(f.size.columns, f.x, f.y, f.gamma, f.beta) ? normalise_narrow<4, per_thread>(device, f)
                                                          : normalise_narrow<1, per_thread>(device, f);
    });
  normalise_kernel<<<blocks_for(f.size.rows), cuda_block_threads, 0, cuda_stream(device)>>>(f);
  check_cuda(cudaGetLastError(), "launch a layer normalisation");
}

template <class T>
void backward_on_cuda(Device& device, const LayerNormBackward<T>& b) {
  const Rows size = b.size;
  const DeviceScratch<Moments<T>> memory(device, size.rows);
  Moments<T>* const moments = memory.data();
  if (size.columns <= most_narrow_columns)
    with_elements_per_thread(size.columns, [&]<int per_thread>() {
      in_fours(size.columns, b.g, b.x, b.dx, b.gamma)
          ? backward_narrow<4, per_thread>(device, b, moments)
          : backward_narrow<1, per_thread>(device, b, moments);
    });
  else if (size.rows > 0)
    backward_kernel<<<blocks_for(size.rows), cuda_block_threads, 0, cuda_stream(device)>>>(b, moments);
  check_cuda(cudaGetLastError(), "launch a layer normalisation's gradient");
  fold_columns<TwoSumsFold>(device, size, ColumnGradientTerm<T>{b.g, b.x, moments},
                            [=] __device__(std::int64_t j, const TwoSums<double>& sums) {
                              b.dgamma[j] = static_cast<T>(sums.first);
                              b.dbeta[j] = static_cast<T>(sums.second);
                            });
}

#endif

template <class T>
T* elements_of(const BufferRef& memory) {
  return static_cast<T*>(memory->data());
}

template <class T>
void run(OpContext& c, const Forward<T>& f) {
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
    run(c, Forward<T>{size, attr<double>(c.node(), "epsilon"), values(0), values(1), values(2),
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

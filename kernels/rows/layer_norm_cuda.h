// Normalisation of layers on the GPU: a warp of threads takes a narrow row, and a block of threads a
// wide one. For .cu files in a build with CUDA.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/loops/warp_rows.h"
#include "kernels/ops/reduce.h"
#include "kernels/rows/layer_norm.h"

namespace actorflow {

// The mean over a row of what the threads of its warp have summed up. The few terms of one thread are
// summed up in T: a GPU converts to double at an eighth of the rate at which it adds.
template <class T>
__device__ T mean_in_warp(T sum, std::int64_t columns) {
  return static_cast<T>(sum_in_warp(static_cast<double>(sum)) / static_cast<double>(columns));
}

template <class T, class Row>
__device__ RowMoments<T> moments_of(const Row& row, std::int64_t columns, double epsilon) {
  T sum = 0, squares = 0;
  row.for_each([&](std::int64_t, T x) { sum += x; });
  const T mean = mean_in_warp(sum, columns);
  row.for_each([&](std::int64_t, T x) { squares += (x - mean) * (x - mean); });
  return {mean, 1 / std::sqrt(mean_in_warp(squares, columns) + static_cast<T>(epsilon))};
}

// Of rows that a warp's registers hold.
template <int n, int per_thread, class T>
void normalise_narrow(Device& device, const LayerNormForward<T>& f) {
  launch_rows(device, f.size.rows, [=] __device__(std::int64_t row_index) {
    const std::int64_t columns = f.size.columns, first = row_index * columns;
    const PackedRow<T, n, per_thread> row(columns, f.x + first);
    const RowMoments<T> m = moments_of<T>(row, columns, f.epsilon);
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
void backward_narrow(Device& device, const LayerNormBackward<T>& b, RowMoments<T>* moments) {
  launch_rows(device, b.size.rows, [=] __device__(std::int64_t row_index) {
    const std::int64_t columns = b.size.columns, first = row_index * columns;
    const PackedRow<T, n, per_thread> row(columns, b.x + first);
    PackedRow<T, n, per_thread> e(columns, b.g + first);
    const RowMoments<T> m = moments_of<T>(row, columns, b.epsilon);
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
__device__ inline double block_sum(double value) {
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
__device__ RowMoments<T> moments_on_cuda(std::int64_t columns, const T* x, double epsilon) {
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
__global__ void normalise_kernel(LayerNormForward<T> f) {
  const std::int64_t columns = f.size.columns;
  for (std::int64_t row = blockIdx.x; row < f.size.rows; row += gridDim.x) {
    const T* x = f.x + row * columns;
    const RowMoments<T> m = moments_on_cuda(columns, x, f.epsilon);
    for (std::int64_t j = threadIdx.x; j < columns; j += blockDim.x)
      f.y[row * columns + j] = (x[j] - m.mean) * m.scale * f.gamma[j] + f.beta[j];
  }
}

// Keeps the rows' moments, which the columns' sums need too.
template <class T>
__global__ void backward_kernel(LayerNormBackward<T> b, RowMoments<T>* moments) {
  const std::int64_t columns = b.size.columns;
  const auto count = static_cast<double>(columns);
  for (std::int64_t row = blockIdx.x; row < b.size.rows; row += gridDim.x) {
    const T *g = b.g + row * columns, *x = b.x + row * columns;
    const RowMoments<T> m = moments_on_cuda(columns, x, b.epsilon);
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
  const RowMoments<T>* moments;
  __device__ TwoSumsFold::Accumulator operator()(MatrixPlace at) const {
    const RowMoments<T> m = moments[at.row];
    const T g_here = g[at.index];
    return {static_cast<double>(g_here * (x[at.index] - m.mean) * m.scale), static_cast<double>(g_here)};
  }
};

inline unsigned blocks_for(std::int64_t rows) {
  return static_cast<unsigned>(std::min<std::int64_t>(rows, 8192));
}

template <class T>
void normalise_on_cuda(Device& device, const LayerNormForward<T>& f) {
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
  const DeviceScratch<RowMoments<T>> memory(device, size.rows);
  RowMoments<T>* const moments = memory.data();
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

}  // namespace actorflow

// Softmax of rows, for softmax.cu and cross_entropy.cu. On the CPU a few rows at a time, for the bodies
// of vectorised(); on the GPU a warp per row.
//
// The largest element of a row is subtracted before exponentiation, so that no finite input overflows.
// Narrow rows are transposed, so that a vector holds the same column of many rows; wide rows fill
// vectors by themselves. The order of all sums follows from the shape.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/loops/elementary.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/reduce.h"
#ifdef __CUDACC__
#include "kernels/loops/warp_rows.h"
#endif

namespace actorflow {

inline constexpr std::int64_t softmax_block_rows = 16;

// For each row its maximum and the sum of exp(x - maximum).
template <class T>
struct SoftmaxNormalizers {
  T maximum[softmax_block_rows];
  double sum[softmax_block_rows];
};

inline constexpr std::int64_t narrow_columns = 32;

// A transposed block of narrow rows: element [column][row].
template <class T>
using TurnedRows = T[narrow_columns][softmax_block_rows];

template <class T>
void narrow_softmax(std::int64_t columns, TurnedRows<T>& x, SoftmaxNormalizers<T>& sums) {
  constexpr std::int64_t lanes = softmax_block_rows;
  std::fill_n(sums.maximum, lanes, MaxReducer<T>::initial());
  std::fill_n(sums.sum, lanes, 0.0);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < lanes; ++i)
      sums.maximum[i] = MaxReducer<T>::combine(sums.maximum[i], x[j][i]);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < lanes; ++i) {
      x[j][i] = elementary::exp(x[j][i] - sums.maximum[i]);
      sums.sum[i] += static_cast<double>(x[j][i]);
    }
  T scale[lanes];
  for (std::int64_t i = 0; i < lanes; ++i) scale[i] = static_cast<T>(1 / sums.sum[i]);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < lanes; ++i) x[j][i] *= scale[i];
}

template <class T>
void wide_softmax(std::int64_t columns, const T* x, T* output, T& maximum, double& sum) {
  maximum = reduce_run<MaxReducer<T>>(x, columns);
#pragma GCC ivdep
  for (std::int64_t j = 0; j < columns; ++j) output[j] = elementary::exp(x[j] - maximum);
  sum = reduce_run<SumReducer<T>>(output, columns);
  const T scale = static_cast<T>(1 / sum);
  for (std::int64_t j = 0; j < columns; ++j) output[j] *= scale;
}

// Computes at most softmax_block_rows rows. The output may be x.
template <class T>
void softmax_of_rows(Rows block, const T* x, T* output, SoftmaxNormalizers<T>& sums) {
  if (block.columns > narrow_columns) {
    for (std::int64_t i = 0; i < block.rows; ++i)
      wide_softmax(block.columns, x + i * block.columns, output + i * block.columns, sums.maximum[i],
                   sums.sum[i]);
    return;
  }
  TurnedRows<T> turned = {};
  for (std::int64_t i = 0; i < block.rows; ++i)
    for (std::int64_t j = 0; j < block.columns; ++j) turned[j][i] = x[i * block.columns + j];
  narrow_softmax(block.columns, turned, sums);
  for (std::int64_t i = 0; i < block.rows; ++i)
    for (std::int64_t j = 0; j < block.columns; ++j) output[i * block.columns + j] = turned[j][i];
}

// Calls body(first row, block) for all rows, in blocks.
template <class Body>
void for_each_softmax_block(Rows size, const Body& body) {
  for (std::int64_t first = 0; first < size.rows; first += softmax_block_rows)
    body(first, Rows{std::min(softmax_block_rows, size.rows - first), size.columns});
}

#ifdef __CUDACC__

// The maximum of a row, and the sum of exp(x - maximum).
template <class T>
struct SoftmaxNormalizer {
  T maximum;
  double sum;
};

template <class T>
__device__ SoftmaxNormalizer<T> sum_row(const T* x, std::int64_t columns) {
  T maximum = -std::numeric_limits<T>::infinity();
  for (std::int64_t j = threadIdx.x; j < columns; j += warp) maximum = std::fmax(maximum, x[j]);
  maximum = maximum_in_warp(maximum);
  double sum = 0;
  for (std::int64_t j = threadIdx.x; j < columns; j += warp)
    sum += static_cast<double>(std::exp(x[j] - maximum));
  return {maximum, sum_in_warp(sum)};
}

// Launches a warp per row; rows that fit into registers are read once.
template <class T, int per_thread>
__device__ T maximum_of(const RowInRegisters<T, per_thread>& row) {
  T maximum = -std::numeric_limits<T>::infinity();
  row.for_each([&](std::int64_t, T x) { maximum = std::fmax(maximum, x); });
  return maximum_in_warp(maximum);
}

#endif

}  // namespace actorflow

// Two sums over each column of a matrix on the GPU, of columns in packs (packs.h). For .cu files in a
// build with CUDA.
//
// A Term gives term.columns<n>(column), an object for n neighbouring columns, and that has
//   load(i)            what it reads of the pack that begins at element i
//   add(i, row, sums)  adds what was loaded to sums[0 .. n - 1]; it may write memory, too
// It is called once for each pack.
#pragma once

#include "kernels/loops/fold_columns.h"
#include "kernels/loops/packs.h"

namespace actorflow {

inline constexpr unsigned sum_block_threads = 512;

// Adds `rows` rows, each `step` elements after the one before. All are loaded before the first is used,
// since memory takes long to answer. They are summed up in T: a GPU converts to double at an eighth of
// the rate at which it adds.
template <class T, int rows, int n, class Columns>
__device__ void add_rows(const Columns& columns, std::int64_t first, std::int64_t step,
                         TwoSums<double>* totals) {
  decltype(columns.load(first)) loaded[rows];
#pragma unroll
  for (int row = 0; row < rows; ++row) loaded[row] = columns.load(first + row * step);
  TwoSums<T> sums[n] = {};
#pragma unroll
  for (int row = 0; row < rows; ++row) columns.add(first + row * step, loaded[row], sums);
#pragma unroll
  for (int k = 0; k < n; ++k) {
    totals[k].first += static_cast<double>(sums[k].first);
    totals[k].second += static_cast<double>(sums[k].second);
  }
}

// As fold_column_parts; `width` counts packs.
template <class T, int n, class Term, class Finish>
__global__ void __launch_bounds__(sum_block_threads)
    sum_pack_parts(Rows size, unsigned width, Term term, TwoSums<double>* partial, Finish finish) {
  constexpr int at_once = 4;
  __shared__ TwoSums<double> shared[n][sum_block_threads];
  const unsigned x = threadIdx.x % width, y = threadIdx.x / width, height = sum_block_threads / width;
  const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * width + x) * n;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * height;
  TwoSums<double> totals[n] = {};
  if (column < size.columns) {
    const auto columns = term.template columns<n>(column);
    std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * height + y;
    for (; row + (at_once - 1) * step < size.rows; row += at_once * step)
      add_rows<T, at_once, n>(columns, row * size.columns + column, step * size.columns, totals);
    for (; row < size.rows; row += step)
      add_rows<T, 1, n>(columns, row * size.columns + column, 0, totals);
  }
#pragma unroll
  for (int k = 0; k < n; ++k) {
    shared[k][threadIdx.x] = totals[k];
    fold_in_block<TwoSumsFold>(shared[k], threadIdx.x, width, height);
  }
  if (y != 0 || column >= size.columns) return;
#pragma unroll
  for (int k = 0; k < n; ++k)
    if (gridDim.y == 1)
      finish(column + k, shared[k][x]);
    else
      partial[blockIdx.y * size.columns + column + k] = shared[k][x];
}

template <class T, int n, class Term, class Finish>
void sum_packs(Device& device, Rows size, const Term& term, const Finish& finish) {
  const FoldGrid grid = fold_grid({size.rows, size.columns / n}, sum_block_threads, 64, 8);
  combine_parts<TwoSumsFold>(device, size.columns, grid.parts, finish, [&](TwoSums<double>* partial) {
    sum_pack_parts<T, n><<<grid.blocks(), sum_block_threads, 0, cuda_stream(device)>>>(
        size, grid.width, term, partial, finish);
    check_cuda(cudaGetLastError(), "launch sums of columns");
  });
}

// Calls finish(column, two sums) on the GPU for each column, summed up in an order that depends on the
// size and on `fours` alone: whether packs are of four elements or of one.
template <class T, class Term, class Finish>
void sum_columns_twice(Device& device, Rows size, bool fours, const Term& term, const Finish& finish) {
  if (size.columns == 0) return;
  fours ? sum_packs<T, 4>(device, size, term, finish) : sum_packs<T, 1>(device, size, term, finish);
}

}  // namespace actorflow

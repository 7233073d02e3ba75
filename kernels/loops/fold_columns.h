// Folds, such as sums, of the columns of a matrix on the GPU, also of few columns with many rows. For
// .cu files in a build with CUDA.
//
// A Fold is a reducer (reduce.h) without its result: a type Accumulator without constructor, the value
// initial() to start with, and the combination of two values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/devices/cuda_device.h"
#include "kernels/devices/host_device.h"
#include "kernels/loops/rows.h"

namespace actorflow {

inline constexpr unsigned fold_block_threads = 1024, widest_fold_block = 256;

// The place of an element in a matrix.
struct MatrixPlace {
  std::int64_t row, column, index;
};

// Combines the values of the threads of a column, y = 0 .. height - 1, into that of y = 0. All threads
// of the block call it; `place` is the thread's own, and `width` apart are the threads of a column.
template <class Fold, class Accumulator>
__device__ void fold_in_block(Accumulator* values, unsigned place, unsigned width, unsigned height) {
  for (unsigned half = height / 2; half > 0; half /= 2) {
    __syncthreads();
    if (place / width < half) values[place] = Fold::combine(values[place], values[place + half * width]);
  }
}

// With one part, gridDim.y = 1, calls finish(column, fold of term(place) over the rows); with more sets
// partial[part][column] to the fold over the rows of that part. A block is `width` columns wide, a power
// of two, so that a warp reads neighbouring elements, in narrow matrices of several rows.
template <class Fold, class Term, class Finish>
__global__ void __launch_bounds__(fold_block_threads)
    fold_column_parts(Rows size, unsigned width, Term term, typename Fold::Accumulator* partial,
                      Finish finish) {
  __shared__ typename Fold::Accumulator totals[fold_block_threads];
  const unsigned x = threadIdx.x % width, y = threadIdx.x / width, height = fold_block_threads / width;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * width + x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * height;
  auto total = Fold::initial();
  if (column < size.columns)
#pragma unroll 4
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * height + y; row < size.rows;
         row += step)
      total = Fold::combine(total, term(MatrixPlace{row, column, row * size.columns + column}));
  totals[threadIdx.x] = total;
  fold_in_block<Fold>(totals, threadIdx.x, width, height);
  if (y != 0 || column >= size.columns) return;
  if (gridDim.y == 1)
    finish(column, totals[x]);
  else
    partial[blockIdx.y * size.columns + column] = totals[x];
}

template <class Accumulator>
struct StoredTerm {
  const Accumulator* values;
  __device__ Accumulator operator()(MatrixPlace at) const { return values[at.index]; }
};

// How a matrix is divided among blocks. It depends on the size alone and not on the GPU, so that the
// results do too.
struct FoldGrid {
  unsigned width;  // in threads, a power of two
  std::int64_t tiles, parts;

  dim3 blocks() const { return dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(parts)); }
};

// For blocks of so many threads, of which each takes a column of `rows_per_thread` rows or more. More
// blocks than a large GPU runs at a time would only leave more parts to combine.
inline FoldGrid fold_grid(Rows size, unsigned threads, unsigned widest, std::int64_t rows_per_thread) {
  constexpr std::int64_t most_blocks = 256;
  const auto width = static_cast<unsigned>(
      std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(size.columns, widest))));
  const std::int64_t tiles = (size.columns - 1) / width + 1;
  const std::int64_t worth = size.rows * width / (rows_per_thread * threads);
  return {width, tiles, std::clamp<std::int64_t>(std::min(worth, most_blocks / tiles), 1, most_blocks)};
}

// Folds the columns of a matrix in one launch.
template <class Fold, class Term, class Finish>
void launch_fold(Device& device, Rows size, const FoldGrid& grid, const Term& term,
                 typename Fold::Accumulator* partial, const Finish& finish) {
  fold_column_parts<Fold><<<grid.blocks(), fold_block_threads, 0, cuda_stream(device)>>>(
      size, grid.width, term, partial, finish);
  check_cuda(cudaGetLastError(), "launch a fold of columns");
}

// Calls launch_parts(partial), which folds the parts of a grid, and combines these where there are
// several, for the caller's finish(column, total).
template <class Fold, class LaunchParts, class Finish>
void combine_parts(Device& device, std::int64_t columns, std::int64_t parts, const Finish& finish,
                   const LaunchParts& launch_parts) {
  using Accumulator = typename Fold::Accumulator;
  if (parts == 1) return launch_parts(nullptr);
  const DeviceScratch<Accumulator> partial(device, parts * columns);
  launch_parts(partial.data());
  // Narrow blocks: a thread reads few of the parts, and there are several blocks.
  constexpr unsigned widest = 16;
  FoldGrid grid = fold_grid({parts, columns}, fold_block_threads, widest, parts);
  grid.parts = 1;
  launch_fold<Fold>(device, {parts, columns}, grid, StoredTerm<Accumulator>{partial.data()}, nullptr,
                    finish);
}

// Calls finish(column, total) on the GPU for each column, with the fold of term(place) over the rows, in
// an order that depends on the size alone.
template <class Fold, class Term, class Finish>
void fold_columns(Device& device, Rows size, const Term& term, const Finish& finish) {
  if (size.columns == 0) return;
  const FoldGrid grid = fold_grid(size, fold_block_threads, widest_fold_block, 4);
  combine_parts<Fold>(device, size.columns, grid.parts, finish,
                      [&](typename Fold::Accumulator* partial) {
                        launch_fold<Fold>(device, size, grid, term, partial, finish);
                      });
}

// The sum in double, so that a column of many rows loses no precision.
struct SumFold {
  using Accumulator = double;
  ACTORFLOW_HOST_DEVICE static double initial() { return 0; }
  ACTORFLOW_HOST_DEVICE static double combine(double a, double b) { return a + b; }
};

template <class T>
struct alignas(2 * sizeof(T)) TwoSums {
  T first, second;
};

// Two sums in one pass over the elements.
struct TwoSumsFold {
  using Accumulator = TwoSums<double>;
  ACTORFLOW_HOST_DEVICE static Accumulator initial() { return {0, 0}; }
  ACTORFLOW_HOST_DEVICE static Accumulator combine(Accumulator a, Accumulator b) {
    return {a.first + b.first, a.second + b.second};
  }
};

}  // namespace actorflow

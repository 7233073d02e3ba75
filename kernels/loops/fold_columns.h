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

// partial[part][column] = the fold of term(place) over the rows of that part, for parts = gridDim.y. A
// block is `width` columns wide, a power of two, so that a warp reads neighbouring elements, in narrow
// matrices of several rows.
template <class Fold, class Term>
__global__ void __launch_bounds__(fold_block_threads)
    fold_column_parts(Rows size, unsigned width, Term term, typename Fold::Accumulator* partial) {
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
  for (unsigned half = height / 2; half > 0; half /= 2) {
    __syncthreads();
    if (y < half)
      totals[threadIdx.x] = Fold::combine(totals[threadIdx.x], totals[threadIdx.x + half * width]);
  }
  if (y == 0 && column < size.columns) partial[blockIdx.y * size.columns + column] = totals[x];
}

template <class Accumulator>
struct StoredTerm {
  const Accumulator* values;
  __device__ Accumulator operator()(MatrixPlace at) const { return values[at.index]; }
};

// results[column] = the fold of term(place) over the rows, in an order that depends on the size alone.
template <class Fold, class Term>
void fold_columns(Device& device, Rows size, const Term& term, typename Fold::Accumulator* results) {
  using Accumulator = typename Fold::Accumulator;
  if (size.columns == 0) return;
  constexpr std::int64_t most_blocks = 1024, rows_per_thread = 4;
  const auto width = static_cast<unsigned>(std::bit_ceil(
      static_cast<std::uint64_t>(std::min<std::int64_t>(size.columns, widest_fold_block))));
  const auto tiles = (size.columns - 1) / width + 1;
  const std::int64_t worth = size.rows * width / (rows_per_thread * fold_block_threads);
  const auto parts = std::clamp<std::int64_t>(std::min(worth, most_blocks / tiles), 1, most_blocks);
  const auto launch_fold = [&](Rows rows, const auto& of, std::int64_t into, Accumulator* to) {
    fold_column_parts<Fold><<<dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(into)),
                              fold_block_threads, 0, cuda_stream(device)>>>(rows, width, of, to);
    check_cuda(cudaGetLastError(), "launch a fold of columns");
  };
  if (parts == 1) return launch_fold(size, term, 1, results);
  const BufferRef scratch =
      device.allocator().allocate(static_cast<std::size_t>(parts * size.columns) * sizeof(Accumulator));
  auto* partial = static_cast<Accumulator*>(scratch->data());
  launch_fold(size, term, parts, partial);
  launch_fold({parts, size.columns}, StoredTerm<Accumulator>{partial}, 1, results);
}

// The sum in double, so that a column of many rows loses no precision.
struct SumFold {
  using Accumulator = double;
  ACTORFLOW_HOST_DEVICE static double initial() { return 0; }
  ACTORFLOW_HOST_DEVICE static double combine(double a, double b) { return a + b; }
};

// Two sums in one pass over the elements.
struct TwoSumsFold {
  struct Accumulator {
    double first, second;
  };
  ACTORFLOW_HOST_DEVICE static Accumulator initial() { return {0, 0}; }
  ACTORFLOW_HOST_DEVICE static Accumulator combine(Accumulator a, Accumulator b) {
    return {a.first + b.first, a.second + b.second};
  }
};

}  // namespace actorflow

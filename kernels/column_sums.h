// Sums of the columns of a matrix on the GPU, for few columns and many rows too. For .cu files in a
// build with CUDA.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cuda_device.h"
#include "kernels/rows.h"

namespace actorflow {

inline constexpr unsigned column_tile = 32;  // a block is column_tile columns x column_tile rows

// partial[part][column] = the sum of term(i, column) over the rows of that part, for parts = gridDim.y.
// Neighbouring threads read neighbouring elements.
template <class Term>
__global__ void sum_column_parts(Rows size, Term term, double* partial) {
  __shared__ double totals[column_tile][column_tile];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * column_tile;
  double total = 0;
  if (column < size.columns)
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * column_tile + threadIdx.y;
         row < size.rows; row += step)
      total += term(row * size.columns + column, column);
  totals[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.y != 0 || column >= size.columns) return;
  for (unsigned y = 1; y < column_tile; ++y) total += totals[y][threadIdx.x];
  partial[blockIdx.y * size.columns + column] = total;
}

// sums[column] = the sum of term(i, column) over the rows, in an order that depends on the size alone.
template <class Term>
void column_sums(Device& device, Rows size, const Term& term, double* sums) {
  if (size.columns == 0) return;
  constexpr std::int64_t most_parts = 512, rows_per_part = 4 * column_tile;
  const auto parts = std::clamp<std::int64_t>(size.rows / rows_per_part, 1, most_parts);
  const BufferRef scratch =
      device.allocator().allocate(static_cast<std::size_t>(parts * size.columns) * sizeof(double));
  auto* partial = static_cast<double*>(scratch->data());
  const auto tiles = static_cast<unsigned>((size.columns - 1) / column_tile + 1);
  sum_column_parts<<<dim3(tiles, static_cast<unsigned>(parts)), dim3(column_tile, column_tile), 0,
                     cuda_stream(device)>>>(size, term, partial);
  check_cuda(cudaGetLastError(), "launch a kernel");
  launch(device, size.columns, [=] __device__(std::int64_t column) {
    double total = 0;
    for (std::int64_t part = 0; part < parts; ++part) total += partial[part * size.columns + column];
    sums[column] = total;
  });
}

}  // namespace actorflow

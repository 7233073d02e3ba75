// Sums of the columns of a matrix that is there, or that is computed and stored on the way.
//
// An Elements object gives the elements: on a CPU elements.run(first, count) is a pointer to `count` of
// them, on a GPU elements(i) is one; each is asked for once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/rows.h"
#include "kernels/vectorised.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/cuda_device.h"
#endif

namespace actorflow {

// Sums in double, so that a column of many rows loses nothing; row by row, to read memory in order.
template <class T, class Elements>
void sum_columns_on_cpu(Rows size, std::int64_t begin, std::int64_t end, Elements elements, T* sums) {
  vectorised([=] {
    constexpr std::int64_t block = 512;
    double totals[block];
    for (std::int64_t first = begin; first < end; first += block) {
      const std::int64_t count = std::min(block, end - first);
      std::fill_n(totals, count, 0.0);
      for (std::int64_t row = 0; row < size.rows; ++row) {
        const T* values = elements.run(row * size.columns + first, count);
        for (std::int64_t j = 0; j < count; ++j) totals[j] += static_cast<double>(values[j]);
      }
      for (std::int64_t j = 0; j < count; ++j) sums[first + j] = static_cast<T>(totals[j]);
    }
  });
}

#ifdef __CUDACC__

// A block of 32 x 32 threads takes 32 columns: neighbours read neighbouring elements, and the rows are
// shared out along y. The partial sums are added in one order, whatever the timing.
inline constexpr unsigned columns_per_block = 32;

template <class T, class Elements>
__global__ void sum_columns_kernel(Rows size, Elements elements, T* sums) {
  __shared__ double partial[columns_per_block][columns_per_block];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * columns_per_block + threadIdx.x;
  double total = 0;
  if (column < size.columns)
    for (std::int64_t row = threadIdx.y; row < size.rows; row += columns_per_block)
      total += static_cast<double>(elements(row * size.columns + column));
  partial[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.y != 0 || column >= size.columns) return;
  for (unsigned y = 1; y < columns_per_block; ++y) total += partial[y][threadIdx.x];
  sums[column] = static_cast<T>(total);
}

template <class T, class Elements>
void sum_columns_on_cuda(Device& device, Rows size, const Elements& elements, T* sums) {
  if (size.columns == 0) return;
  const auto blocks = static_cast<unsigned>((size.columns - 1) / columns_per_block + 1);
  sum_columns_kernel<<<blocks, dim3(columns_per_block, columns_per_block), 0, cuda_stream(device)>>>(
      size, elements, sums);
  check_cuda(cudaGetLastError(), "launch a kernel");
}

#endif

// sums[j] = the sum of column j.
template <class T, class Elements>
void sum_columns(const OpContext& c, Rows size, const Elements& elements, T* sums) {
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda)
    return sum_columns_on_cuda(c.device(), size, elements, sums);
#endif
  constexpr std::int64_t elements_per_part = 1 << 16, columns_per_part = 512;
  const auto worth =
      std::min(size.rows * size.columns / elements_per_part, size.columns / columns_per_part);
  share_out(c.team(), Shares(size.columns, worth, 64), [&](std::int64_t first, std::int64_t last) {
    sum_columns_on_cpu(size, first, last, elements, sums);
  });
}

}  // namespace actorflow

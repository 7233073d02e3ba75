// Rows of a matrix on the GPU, each computed by a warp. For .cu files in a build with CUDA.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/devices/cuda_device.h"
#include "kernels/loops/packs.h"

namespace actorflow {

inline constexpr unsigned warp = 32;
inline constexpr unsigned warps_per_block = cuda_block_threads / warp;

// Combines a value of each thread of the warp; every thread gets the same result, combined in one order.
template <class T, class Combine>
__device__ T combine_in_warp(T value, Combine combine) {
  for (unsigned distance = warp / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(~0U, value, distance));
  return value;
}

__device__ inline double sum_in_warp(double value) {
  return combine_in_warp(value, [](double a, double b) { return a + b; });
}

template <class T>
__device__ T maximum_in_warp(T value) {
  return combine_in_warp(value, [](T a, T b) { return std::fmax(a, b); });
}

// The most columns of a row in registers.
inline constexpr std::int64_t most_narrow_columns = 32 * warp;

// Calls use.operator()<per_thread>() with a number of elements for each thread of a warp that suffices
// for a row: what is beyond the row takes time and registers, too. REQUIRES: at most
// most_narrow_columns.
template <class Use>
void with_elements_per_thread(std::int64_t columns, const Use& use) {
  if (columns <= 4 * warp) return use.template operator()<4>();
  if (columns <= 8 * warp) return use.template operator()<8>();
  use.template operator()<most_narrow_columns / warp>();
}

// A row in the registers of a warp: its memory is read once, however often the elements are used.
template <class T, int per_thread>
class RowInRegisters {
 public:
  // Loads the row; value(column) is called once for each element. REQUIRES: at most per_thread * warp
  // columns.
  template <class Value>
  __device__ RowInRegisters(std::int64_t columns, const Value& value)
      : columns_(static_cast<int>(columns)) {
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
      if (column(k) < columns_) values_[k] = value(column(k));
  }

  // Calls use(column, element) for this thread's part. The element may be changed.
  template <class Use>
  __device__ void for_each(const Use& use) {
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
      if (column(k) < columns_) use(column(k), values_[k]);
  }
  template <class Use>
  __device__ void for_each(const Use& use) const {
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
      if (column(k) < columns_) use(column(k), values_[k]);
  }

 private:
  __device__ static int column(int k) { return static_cast<int>(threadIdx.x + k * warp); }

  int columns_;
  T values_[per_thread];
};

// As RowInRegisters, of a row that is read in packs (packs.h): the addresses of 32 single elements take
// about as many registers as the elements, so that fewer warps run at a time. REQUIRES: at most
// per_thread * warp columns, and columns % n == 0.
template <class T, int n, int per_thread>
class PackedRow {
 public:
  __device__ PackedRow(std::int64_t columns, const T* row) : columns_(static_cast<int>(columns)) {
#pragma unroll
    for (int p = 0; p < packs; ++p)
      if (column(p) < columns_) packs_[p] = load_pack<n>(row + column(p));
  }

  // Calls use(column, pack) for this thread's part. The pack may be changed.
  template <class Use>
  __device__ void for_each_pack(const Use& use) {
#pragma unroll
    for (int p = 0; p < packs; ++p)
      if (column(p) < columns_) use(column(p), packs_[p]);
  }
  template <class Use>
  __device__ void for_each_pack(const Use& use) const {
#pragma unroll
    for (int p = 0; p < packs; ++p)
      if (column(p) < columns_) use(column(p), packs_[p]);
  }
  template <class Use>
  __device__ void for_each(const Use& use) const {
    for_each_pack([&](int first, const Pack<T, n>& pack) {
#pragma unroll
      for (int k = 0; k < n; ++k) use(first + k, pack.values[k]);
    });
  }
  // Calls use(column, pack of a, pack of b).
  template <class Use>
  __device__ static void for_each_pair(const PackedRow& a, const PackedRow& b, const Use& use) {
#pragma unroll
    for (int p = 0; p < packs; ++p)
      if (column(p) < a.columns_) use(column(p), a.packs_[p], b.packs_[p]);
  }

 private:
  static constexpr int packs = per_thread / n;
  __device__ static int column(int p) { return static_cast<int>(threadIdx.x + p * warp) * n; }

  int columns_;
  Pack<T, n> packs_[packs];
};

// Calls body(row) with the threads of one warp, threadIdx.x from 0 to 31, for each row.
template <class Body>
__global__ void __launch_bounds__(cuda_block_threads) for_each_row(std::int64_t rows, Body body) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * warps_per_block;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps_per_block + threadIdx.y;
       row < rows; row += step)
    body(row);
}

template <class Body>
void launch_rows(Device& device, std::int64_t rows, const Body& body) {
  if (rows == 0) return;
  constexpr std::int64_t max_blocks = 8192;
  const auto blocks = static_cast<unsigned>(std::min((rows - 1) / warps_per_block + 1, max_blocks));
  for_each_row<<<blocks, dim3(warp, warps_per_block), 0, cuda_stream(device)>>>(rows, body);
  check_cuda(cudaGetLastError(), "launch a kernel");
}

}  // namespace actorflow

// Sums of the columns of a matrix on the GPU, which are read once and in packs (packs.h). For .cu files
// in a build with CUDA.
//
// An Elements object gives the elements (columns.h). On a GPU it has
//   aligned()                whether packs of four can be read and written at once; called on the host
//   load<n, aligned>(i)      what it reads of the n neighbours from element i on
//   take<n, aligned>(i, l)   these as Pack<T, n>, of what was loaded; it may write memory, too
// Each element is taken once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/loops/fold_columns.h"
#include "kernels/loops/packs.h"

namespace actorflow {

inline constexpr unsigned column_sum_threads = 256;

template <int n, bool aligned, class T>
__device__ Pack<T, n> load_elements(const T* from) {
  if constexpr (aligned) {
    return load_pack<n>(from);
  } else {
    Pack<T, n> pack;
#pragma unroll
    for (int k = 0; k < n; ++k) pack.values[k] = from[k];
    return pack;
  }
}

template <bool aligned, class T, int n>
__device__ void store_elements(T* to, const Pack<T, n>& pack) {
  if constexpr (aligned) {
    store_pack(to, pack);
  } else {
#pragma unroll
    for (int k = 0; k < n; ++k) to[k] = pack.values[k];
  }
}

// Adds up to `at_once` rows, each `step` rows after the one before, from row `row` and element `first`
// on. All are loaded before the first is used, since memory takes long to answer.
template <int n, bool aligned, int at_once, class Elements>
__device__ void add_rows_of(const Elements& elements, Rows size, std::int64_t row, std::int64_t step,
                            std::int64_t first, double* totals) {
  const std::int64_t distance = step * size.columns;
  decltype(elements.template load<n, aligned>(first)) loaded[at_once];
#pragma unroll
  for (int i = 0; i < at_once; ++i)
    if (row + i * step < size.rows) loaded[i] = elements.template load<n, aligned>(first + i * distance);
#pragma unroll
  for (int i = 0; i < at_once; ++i) {
    if (row + i * step >= size.rows) continue;
    const auto pack = elements.template take<n, aligned>(first + i * distance, loaded[i]);
#pragma unroll
    for (int k = 0; k < n; ++k) totals[k] += static_cast<double>(pack.values[k]);
  }
}

// Adds the rows of a block, y = 0 .. height - 1, to y = 0. All threads of the block call it.
template <int n>
__device__ void add_up_block(double (*values)[column_sum_threads], unsigned width, unsigned height) {
  for (unsigned rest = height; rest > 1;) {
    const unsigned half = (rest + 1) / 2;
    __syncthreads();
    if (threadIdx.x < (rest - half) * width)
#pragma unroll
      for (int k = 0; k < n; ++k) values[k][threadIdx.x] += values[k][threadIdx.x + half * width];
    rest = half;
  }
}

// As fold_column_parts, but without `partial` it calls finish(). `width` counts packs of n columns and
// is any number up to that of the threads; those that make no whole row have nothing to do.
template <int n, bool aligned, class Elements, class Finish>
__global__ void __launch_bounds__(column_sum_threads)
    sum_column_parts(Rows size, unsigned width, Elements elements, double* partial, Finish finish) {
  // 128 bytes at a time for each thread: 64 KiB for a multiprocessor, of which there are two blocks.
  constexpr std::size_t bytes = sizeof(elements.template load<n, aligned>(0));
  constexpr int at_once = static_cast<int>(std::clamp<std::size_t>(128 / bytes, 1, 8));
  __shared__ double shared[n][column_sum_threads];
  const unsigned height = column_sum_threads / width;
  const unsigned x = threadIdx.x % width, y = threadIdx.x / width;
  const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * width + x) * n;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * height;
  double totals[n] = {};
  if (y < height && column < size.columns)
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * height + y; row < size.rows;
         row += at_once * step)
      add_rows_of<n, aligned, at_once>(elements, size, row, step, row * size.columns + column, totals);
#pragma unroll
  for (int k = 0; k < n; ++k) shared[k][threadIdx.x] = totals[k];
  add_up_block<n>(shared, width, height);
  if (y != 0 || column >= size.columns) return;
#pragma unroll
  for (int k = 0; k < n; ++k)
    if (partial)
      partial[blockIdx.y * size.columns + column + k] = shared[k][x];
    else
      finish(column + k, shared[k][x]);
}

// The division of a matrix of so many rows of packs among blocks: about 32 packs wide, 512 bytes of
// float32. All blocks run at a time on a large GPU. A second launch, which combines parts, takes as long
// as a thread's reading of 32 rows.
inline FoldGrid column_sum_grid(std::int64_t rows, std::int64_t packs) {
  constexpr std::int64_t most_blocks = 256, usual_width = 32, rows_per_thread = 8, least_parts = 4;
  const std::int64_t wanted_tiles = std::max<std::int64_t>(packs / usual_width, 1);
  const auto width = static_cast<unsigned>((packs - 1) / wanted_tiles + 1);
  const std::int64_t tiles = (packs - 1) / width + 1;
  const std::int64_t worth = rows / (column_sum_threads / width * rows_per_thread);
  return {width, tiles,
          worth < least_parts ? 1 : std::clamp<std::int64_t>(most_blocks / tiles, 1, worth)};
}

// How many rows, a power of two, are read as one row: of narrow matrices several, so that 32 threads
// read neighbours, and of odd ones as many as make whole packs of four, if all rows can be divided so.
// One where a launch does it all, since joined rows need a second one.
inline std::int64_t rows_read_as_one(Rows size) {
  constexpr std::int64_t wide = 128;
  if (column_sum_grid(size.rows, size.columns % 4 == 0 ? size.columns / 4 : size.columns).parts == 1)
    return 1;
  std::int64_t joined = 1;
  while ((joined * size.columns % 4 != 0 || joined * size.columns < wide) &&
         size.rows % (2 * joined) == 0)
    joined *= 2;
  return joined;
}

template <int n, bool aligned, class Elements, class Finish>
void sum_columns_in_packs(Device& device, Rows size, std::int64_t joined, const Elements& elements,
                          const Finish& finish) {
  const Rows wide{size.rows / joined, size.columns * joined};
  const FoldGrid grid = column_sum_grid(wide.rows, wide.columns / n);
  combine_parts<SumFold>(device, size.columns, grid.parts * joined, finish, [&](double* partial) {
    sum_column_parts<n, aligned><<<grid.blocks(), column_sum_threads, 0, cuda_stream(device)>>>(
        wide, grid.width, elements, partial, finish);
    check_cuda(cudaGetLastError(), "launch sums of columns");
  });
}

// Calls finish(column, sum) on the GPU for each column, summed up in float64 and in an order that
// depends on the size alone.
template <class Elements, class Finish>
void sum_columns_on_cuda(Device& device, Rows size, const Elements& elements, const Finish& finish) {
  if (size.columns == 0) return;
  const std::int64_t joined = rows_read_as_one(size);
  if (joined * size.columns % 4 != 0)
    sum_columns_in_packs<1, true>(device, size, joined, elements, finish);
  else if (elements.aligned())
    sum_columns_in_packs<4, true>(device, size, joined, elements, finish);
  else
    sum_columns_in_packs<4, false>(device, size, joined, elements, finish);
}

}  // namespace actorflow

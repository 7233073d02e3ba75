// Reductions on the GPU: the end of reduce.h, in a build with CUDA.
//
// How the elements are divided among threads follows from the shape alone, so the order in which they
// are combined does too.
#pragma once

#include <algorithm>
#include <cub/block/block_reduce.cuh>

#include "kernels/devices/cuda_device.h"
#include "kernels/loops/fold_columns.h"
#include "kernels/loops/warp_rows.h"
#include "kernels/ops/reduce.h"

namespace actorflow {

// One thread per result.
template <class Reducer, class T>
struct ReduceBody {
  ReduceLoops loops;
  const T* x;
  T* out;
  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    const T* from = x + loops.kept.offset(0, i);
    auto total = Reducer::initial();
    for (std::int64_t r = 0; r < loops.reduced.elements; ++r)
      total = Reducer::combine(
          total, static_cast<typename Reducer::Accumulator>(from[loops.reduced.offset(0, r)]));
    out[i] = Reducer::result(total, loops.reduced.elements);
  }
};

// For a kept innermost axis: the results are the columns of a matrix whose rows are combined.
template <class Reducer, class T>
struct ReducedColumnTerm {
  ReduceLoops loops;
  const T* x;
  __device__ typename Reducer::Accumulator operator()(MatrixPlace at) const {
    return static_cast<typename Reducer::Accumulator>(
        x[loops.kept.offset(0, at.column) + loops.reduced.offset(0, at.row)]);
  }
};

// The same for a matrix without gaps in memory: computing the place of an element costs as much as the
// sum.
template <class Reducer, class T>
struct PlainColumnTerm {
  std::int64_t row_stride;
  const T* x;
  __device__ typename Reducer::Accumulator operator()(MatrixPlace at) const {
    return static_cast<typename Reducer::Accumulator>(x[at.row * row_stride + at.column]);
  }
};

template <class Reducer, class T>
void reduce_columns_on_cuda(Device& device, const ReduceLoops& loops, const T* x, T* out) {
  const std::int64_t results = loops.kept.elements, count = loops.reduced.elements;
  const auto finish = [=] __device__(std::int64_t i, const typename Reducer::Accumulator& total) {
    out[i] = Reducer::result(total, count);
  };
  if (loops.kept.rank == 1 && loops.reduced.rank == 1)
    fold_columns<Reducer>(device, {count, results},
                          PlainColumnTerm<Reducer, T>{loops.reduced.row_stride(), x}, finish);
  else
    fold_columns<Reducer>(device, {count, results}, ReducedColumnTerm<Reducer, T>{loops, x}, finish);
}

template <class Reducer>
struct Combine {
  using Accumulator = typename Reducer::Accumulator;
  ACTORFLOW_HOST_DEVICE Accumulator operator()(Accumulator a, Accumulator b) const {
    return Reducer::combine(a, b);
  }
};

// Combines the values of a block of threads; the first thread gets the result.
template <class Reducer>
__device__ typename Reducer::Accumulator combine_in_block(typename Reducer::Accumulator total) {
  using BlockReduce = cub::BlockReduce<typename Reducer::Accumulator, cuda_block_threads>;
  __shared__ typename BlockReduce::TempStorage scratch;
  const auto all = BlockReduce(scratch).Reduce(total, Combine<Reducer>());
  __syncthreads();  // before the next call overwrites it
  return all;
}

// A warp per result, whose elements are neighbours in memory if `contiguous`.
template <class Reducer, bool contiguous, class T>
void reduce_by_warps(Device& device, const ReduceLoops& loops, const T* x, T* out) {
  using Accumulator = typename Reducer::Accumulator;
  launch_rows(device, loops.kept.elements, [=] __device__(std::int64_t i) {
    const T* from = x + loops.kept.offset(0, i);
    const std::int64_t count = loops.reduced.elements;
    Accumulator total = Reducer::initial();
#pragma unroll 16
    for (std::int64_t r = threadIdx.x; r < count; r += warp)
      total = Reducer::combine(
          total, static_cast<Accumulator>(from[contiguous ? r : loops.reduced.offset(0, r)]));
    total = combine_in_warp(total, Combine<Reducer>());
    if (threadIdx.x == 0) out[i] = Reducer::result(total, count);
  });
}

// Block (p, i) combines part p of the elements of result i.
template <class Reducer, class T>
__global__ void __launch_bounds__(cuda_block_threads)
    reduce_parts(ReduceLoops loops, const T* x, typename Reducer::Accumulator* totals) {
  using Accumulator = typename Reducer::Accumulator;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t start = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = blockIdx.y; i < loops.kept.elements; i += gridDim.y) {
    const T* from = x + loops.kept.offset(0, i);
    Accumulator total = Reducer::initial();
#pragma unroll 8
    for (std::int64_t r = start; r < loops.reduced.elements; r += stride)
      total = Reducer::combine(total, static_cast<Accumulator>(from[loops.reduced.offset(0, r)]));
    total = combine_in_block<Reducer>(total);
    if (threadIdx.x == 0) totals[i * gridDim.x + blockIdx.x] = total;
  }
}

// Block i combines the parts of result i.
template <class Reducer, class T>
__global__ void __launch_bounds__(cuda_block_threads)
    combine_parts(std::int64_t results, std::int64_t parts, std::int64_t elements,
                  const typename Reducer::Accumulator* totals, T* out) {
  for (std::int64_t i = blockIdx.x; i < results; i += gridDim.x) {
    auto total = Reducer::initial();
    for (std::int64_t part = threadIdx.x; part < parts; part += blockDim.x)
      total = Reducer::combine(total, totals[i * parts + part]);
    total = combine_in_block<Reducer>(total);
    if (threadIdx.x == 0) out[i] = Reducer::result(total, elements);
  }
}

// Blocks of threads per result: one, or several for few results of many elements.
template <class Reducer, class T>
void reduce_by_blocks(Device& device, const ReduceLoops& loops, const T* x, T* out) {
  using Accumulator = typename Reducer::Accumulator;
  constexpr std::int64_t elements_per_part = 16 * cuda_block_threads, max_blocks = 2048,
                         max_grid_y = 65535;
  const std::int64_t results = loops.kept.elements, elements = loops.reduced.elements;
  const std::int64_t parts = std::clamp<std::int64_t>(elements / elements_per_part, 1,
                                                      std::max<std::int64_t>(max_blocks / results, 1));
  const DeviceScratch<Accumulator> totals(device, parts * results);
  const auto rows = static_cast<unsigned>(std::min(results, max_grid_y));
  const dim3 grid(static_cast<unsigned>(parts), rows);
  reduce_parts<Reducer><<<grid, cuda_block_threads, 0, cuda_stream(device)>>>(loops, x, totals.data());
  check_cuda(cudaGetLastError(), "launch a reduction");
  if (parts == 1) {
    launch(device, results, [=, of = totals.data()] __device__(std::int64_t i) {
      out[i] = Reducer::result(of[i], elements);
    });
    return;
  }
  combine_parts<Reducer><<<rows, cuda_block_threads, 0, cuda_stream(device)>>>(results, parts, elements,
                                                                               totals.data(), out);
  check_cuda(cudaGetLastError(), "launch a reduction");
}

template <class Reducer, class T>
void reduce_on_cuda(Device& device, const ReduceLoops& loops, const T* x, T* out) {
  constexpr std::int64_t few_elements = 32, few_columns = 8, many_results = 4096;
  const std::int64_t neighbours = loops.kept.row_stride() == 1 ? loops.kept.row_length() : 1;
  if (loops.reduced.elements <= few_elements)
    launch(device, loops.kept.elements, ReduceBody<Reducer, T>{loops, x, out});
  else if (neighbours >= few_columns && loops.reduced.row_stride() != 1)
    reduce_columns_on_cuda<Reducer>(device, loops, x, out);
  else if (loops.kept.elements >= many_results && loops.reduced.contiguous())
    reduce_by_warps<Reducer, true>(device, loops, x, out);
  else if (loops.kept.elements >= many_results)
    reduce_by_warps<Reducer, false>(device, loops, x, out);
  else
    reduce_by_blocks<Reducer>(device, loops, x, out);
}

}  // namespace actorflow

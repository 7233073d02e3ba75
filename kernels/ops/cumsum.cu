// CumSum: running sums along an axis.
#include <algorithm>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/checked_axis.h"
#include "kernels/loops/indexing.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#include "kernels/ops/reduce.h"
#ifdef ACTORFLOW_CUDA
#include <cub/block/block_scan.cuh>

#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

void infer_cumsum(InferContext& c) {
  expect_dtype_in<NumericTypes>(c, 0);
  if (c.input(0).shape.has_rank()) checked_axis(c, c.attr<std::int64_t>("axis"), c.input(0).shape.rank());
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

// Each element is in the sums from its place on, so its gradient is a sum from the other end.
std::vector<Output> cumsum_gradient(GradientContext& c) {
  return {cumsum(c.gradient(), c.attr<std::int64_t>("axis"), c.attr<bool>("exclusive"),
                 !c.attr<bool>("reverse"))};
}

const OpDef& cumsum_op() {
  static const OpDef op{.name = "CumSum",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"axis", std::int64_t{0}}, {"exclusive", false}, {"reverse", false}},
                        .infer = infer_cumsum,
                        .gradient = cumsum_gradient};
  return op;
}

struct Order {
  bool exclusive, reverse;
};

// One sum after the other.
template <class T>
void sum_line(const T* x, T* out, std::int64_t dim, Order order) {
  using Reducer = SumReducer<T>;
  auto total = Reducer::initial();
  for (std::int64_t i = 0; i < dim; ++i) {
    const std::int64_t place = order.reverse ? dim - 1 - i : i;
    const auto before = total;
    total = Reducer::combine(total, static_cast<typename Reducer::Accumulator>(x[place]));
    out[place] = Reducer::result(order.exclusive ? before : total, 0);
  }
}

// Neighbouring lines side by side, which reads memory in order.
template <class T>
void sum_lines(const T* x, T* out, const Indexed& view, std::int64_t first, std::int64_t count,
               Order order) {
  using Reducer = SumReducer<T>;
  constexpr std::int64_t block = 512;
  typename Reducer::Accumulator totals[block];
  std::fill_n(totals, count, Reducer::initial());
  for (std::int64_t i = 0; i < view.dim; ++i) {
    const std::int64_t row = (order.reverse ? view.dim - 1 - i : i) * view.inner + first;
    for (std::int64_t j = 0; j < count; ++j) {
      const auto before = totals[j];
      totals[j] = Reducer::combine(before, static_cast<typename Reducer::Accumulator>(x[row + j]));
      out[row + j] = Reducer::result(order.exclusive ? before : totals[j], 0);
    }
  }
}

template <class T>
void cumsum_on_cpu(const T* x, T* out, const Indexed& view, Order order) {
  constexpr std::int64_t block = 512;
  for (std::int64_t outer = 0; outer < view.outer; ++outer) {
    const std::int64_t place = outer * view.dim * view.inner;
    if (view.inner == 1)
      sum_line(x + place, out + place, view.dim, order);
    else
      for (std::int64_t first = 0; first < view.inner; first += block)
        sum_lines(x + place, out + place, view, first, std::min(block, view.inner - first), order);
  }
}

#ifdef ACTORFLOW_CUDA

// Running sums of lines that are divided into parts, so that many threads share a line: sums of the
// parts, running sums of these, and then the running sums within each part. The parts follow from the
// shape alone: those of CUB's and Thrust's scans are combined as they come, which float sums would show.
template <class T>
struct LineParts {
  using Reducer = SumReducer<T>;
  using Accumulator = typename Reducer::Accumulator;

  Indexed view;
  Order order;
  const T* x;
  T* out;  // may be x
  std::int64_t parts = 1, length = view.dim;

  // Part i is of [outer, parts, inner], its elements i + first(i) up to i + last(i) of its line.
  ACTORFLOW_HOST_DEVICE std::int64_t count() const { return view.outer * parts * view.inner; }
  __device__ std::int64_t first(std::int64_t i) const { return i / view.inner % parts * length; }
  __device__ std::int64_t last(std::int64_t i) const { return std::min(first(i) + length, view.dim); }
  // The place of an element of that part's line, counted in the order in which it is summed.
  __device__ std::int64_t place(std::int64_t i, std::int64_t element) const {
    const std::int64_t along = order.reverse ? view.dim - 1 - element : element;
    return (i / view.inner / parts * view.dim + along) * view.inner + i % view.inner;
  }
  __device__ Accumulator element(std::int64_t place) const { return static_cast<Accumulator>(x[place]); }
  __device__ void store(std::int64_t place, Accumulator before, Accumulator total) const {
    out[place] = Reducer::result(order.exclusive ? before : total, 0);
  }
};

// Calls use(place, element) for the elements of part i, of which some are on their way from memory at a
// time.
template <class T, class Use>
__device__ void for_each_of_part(const LineParts<T>& lines, std::int64_t i, const Use& use) {
  constexpr int at_a_time = 8;
  const std::int64_t last = lines.last(i), step = lines.place(i, 1) - lines.place(i, 0);
  std::int64_t place = lines.place(i, lines.first(i));
  for (std::int64_t k = lines.first(i); k < last; k += at_a_time, place += at_a_time * step) {
    typename LineParts<T>::Accumulator elements[at_a_time];
#pragma unroll
    for (int j = 0; j < at_a_time; ++j)
      if (k + j < last) elements[j] = lines.element(place + j * step);
#pragma unroll
    for (int j = 0; j < at_a_time; ++j)
      if (k + j < last) use(place + j * step, elements[j]);
  }
}

// The sum of each part, a thread for each.
template <class T, class Accumulator>
void sum_parts_by_threads(Device& device, const LineParts<T>& lines, Accumulator* totals) {
  launch(device, lines.count(), [=] __device__(std::int64_t i) {
    Accumulator total = 0;
    for_each_of_part(lines, i, [&](std::int64_t, Accumulator element) { total += element; });
    totals[i] = total;
  });
}

template <class T, class Accumulator>
void scan_parts_by_threads(Device& device, const LineParts<T>& lines, const Accumulator* before) {
  launch(device, lines.count(), [=] __device__(std::int64_t i) {
    Accumulator total = before ? before[i] : 0;
    for_each_of_part(lines, i, [&](std::int64_t place, Accumulator element) {
      lines.store(place, total, total + element);
      total += element;
    });
  });
}

// The same with a block of threads for each part.
template <class T, class Accumulator>
__global__ void __launch_bounds__(cuda_block_threads)
    sum_parts(LineParts<T> lines, Accumulator* totals) {
  for (std::int64_t i = blockIdx.x; i < lines.count(); i += gridDim.x) {
    Accumulator total = 0;
#pragma unroll 4
    for (std::int64_t k = lines.first(i) + threadIdx.x; k < lines.last(i); k += blockDim.x)
      total += lines.element(lines.place(i, k));
    total = combine_in_block<SumReducer<Accumulator>>(total);
    if (threadIdx.x == 0) totals[i] = total;
  }
}

constexpr int elements_per_scan = 4;  // of a thread at a time

template <class T, class Accumulator>
__global__ void __launch_bounds__(cuda_block_threads)
    scan_parts(LineParts<T> lines, const Accumulator* before) {
  using Scan = cub::BlockScan<Accumulator, cuda_block_threads>;
  __shared__ typename Scan::TempStorage scratch;
  for (std::int64_t i = blockIdx.x; i < lines.count(); i += gridDim.x) {
    Accumulator total = before ? before[i] : 0;
    for (std::int64_t tile = lines.first(i); tile < lines.last(i);
         tile += elements_per_scan * cuda_block_threads) {
      const std::int64_t own = tile + threadIdx.x * elements_per_scan;
      Accumulator elements[elements_per_scan], sums[elements_per_scan], sum_of_tile;
#pragma unroll
      for (int j = 0; j < elements_per_scan; ++j)
        elements[j] = own + j < lines.last(i) ? lines.element(lines.place(i, own + j)) : 0;
      Scan(scratch).ExclusiveSum(elements, sums, sum_of_tile);
#pragma unroll
      for (int j = 0; j < elements_per_scan; ++j)
        if (own + j < lines.last(i))
          lines.store(lines.place(i, own + j), total + sums[j], total + (sums[j] + elements[j]));
      total += sum_of_tile;
      __syncthreads();  // before the next scan uses the same memory
    }
  }
}

// A thread computes a part where neighbouring lines are neighbours in memory, or lines are short.
bool are_for_threads(const Indexed& view) { return view.inner >= 32 || view.dim <= 64; }

template <class T>
LineParts<T> in_parts(LineParts<T> lines) {
  const bool threads = are_for_threads(lines.view);
  const std::int64_t wanted = threads ? 1 << 17 : 1 << 10, most = threads ? 256 : 1 << 10,
                     shortest = threads ? 64 : 4096;
  const std::int64_t parts = std::min({wanted / lines.count(), most, lines.view.dim / shortest});
  lines.length = (lines.view.dim - 1) / std::max<std::int64_t>(parts, 1) + 1;
  lines.parts = (lines.view.dim - 1) / lines.length + 1;
  return lines;
}

template <class T>
unsigned blocks_for(const LineParts<T>& lines) {
  return static_cast<unsigned>(std::min<std::int64_t>(lines.count(), 8192));
}

template <class T, class Accumulator>
void sum_each_part(Device& device, const LineParts<T>& lines, Accumulator* totals) {
  if (are_for_threads(lines.view)) return sum_parts_by_threads(device, lines, totals);
  sum_parts<<<blocks_for(lines), cuda_block_threads, 0, cuda_stream(device)>>>(lines, totals);
  check_cuda(cudaGetLastError(), "launch sums of parts");
}

// `before` has the sum of what is before each part, or is null if nothing is.
template <class T, class Accumulator>
void scan_each_part(Device& device, const LineParts<T>& lines, const Accumulator* before) {
  if (are_for_threads(lines.view)) return scan_parts_by_threads(device, lines, before);
  scan_parts<<<blocks_for(lines), cuda_block_threads, 0, cuda_stream(device)>>>(lines, before);
  check_cuda(cudaGetLastError(), "launch running sums");
}

template <class T>
void cumsum_on_cuda(Device& device, const LineParts<T>& whole) {
  using Accumulator = typename LineParts<T>::Accumulator;
  if (whole.count() * whole.view.dim == 0) return;
  const LineParts<T> lines = in_parts(whole);
  if (lines.parts == 1) return scan_each_part<T, Accumulator>(device, lines, nullptr);
  const DeviceScratch<Accumulator> totals(device, lines.count());
  sum_each_part(device, lines, totals.data());
  const Indexed of_totals{.outer = lines.view.outer, .dim = lines.parts, .inner = lines.view.inner};
  cumsum_on_cuda(device, LineParts<Accumulator>{of_totals, {.exclusive = true, .reverse = false},
                                                totals.data(), totals.data()});
  scan_each_part<T, Accumulator>(device, lines, totals.data());
}

#endif

template <class T>
void run_cumsum([[maybe_unused]] Device& device, const T* x, T* out, const Indexed& view, Order order) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda)
    return cumsum_on_cuda(device, LineParts<T>{view, order, x, out});
#endif
  cumsum_on_cpu(x, out, view, order);
}

void cumsum_kernel(OpContext& c) {
  const Tensor x = c.input(0);
  const int axis = checked_axis(c, attr<std::int64_t>(c.node(), "axis"), x.shape().rank());
  const Order order{attr<bool>(c.node(), "exclusive"), attr<bool>(c.node(), "reverse")};
  Tensor& out = c.allocate_output(0, x.dtype(), x.shape());
  dispatch<NumericTypes>(c, x, [&]<class T>() {
    run_cumsum(c.device(), static_cast<const T*>(x.data()), static_cast<T*>(out.mutable_data()),
               indexed(x.shape(), axis, 0), order);
  });
}

}  // namespace

Output cumsum(Output x, std::int64_t axis, bool exclusive, bool reverse) {
  return add_node(cumsum_op(), {x}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}});
}

std::vector<Op> cumsum_ops() { return {on_all_devices<cumsum_kernel>(cumsum_op())}; }

}  // namespace actorflow

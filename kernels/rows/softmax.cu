// Softmax and LogSoftmax over the last axis.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/short_floats.h"
#include "kernels/ops.h"
#include "kernels/rows/softmax_gradient.h"
#include "kernels/rows/softmax_rows.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

void infer_like_input(InferContext& c) {
  expect_rows<AllFloatingTypes>(c);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

std::vector<Output> gradient_of_softmax(GradientContext& c) {
  return {softmax_gradient(c.output(0), c.gradient())};
}

std::vector<Output> gradient_of_log_softmax(GradientContext& c) {
  return {log_softmax_gradient(c.output(0), c.gradient())};
}

const OpDef& softmax_op() {
  static const OpDef op{.name = "Softmax",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = infer_like_input,
                        .gradient = gradient_of_softmax};
  return op;
}

const OpDef& log_softmax_op() {
  static const OpDef op{.name = "LogSoftmax",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = infer_like_input,
                        .gradient = gradient_of_log_softmax};
  return op;
}

// The rows of `output` may be those of x.
template <class T>
void softmax_on_cpu(Rows size, const T* x, T* output) {
  vectorised([=] {
    for_each_softmax_block(size, [=](std::int64_t row, Rows block) {
      SoftmaxNormalizers<T> sums;
      softmax_of_rows(block, x + row * size.columns, output + row * size.columns, sums);
    });
  });
}

// The sum of exp(x - maximum).
template <class T>
double sum_of_exponentials(std::int64_t columns, const T* x, T maximum) {
  constexpr std::int64_t block = 1024;
  T exponentials[block];
  double sum = 0;
  for (std::int64_t first = 0; first < columns; first += block) {
    const std::int64_t count = std::min(block, columns - first);
    for (std::int64_t j = 0; j < count; ++j) exponentials[j] = elementary::exp(x[first + j] - maximum);
    sum += reduce_run<SumReducer<T>>(exponentials, count);
  }
  return sum;
}

template <class T>
void log_softmax_on_cpu(Rows size, const T* x, T* output) {
  vectorised([=] {
    for (std::int64_t first = 0; first < size.rows * size.columns; first += size.columns) {
      const T maximum = reduce_run<MaxReducer<T>>(x + first, size.columns);
      const double sum = sum_of_exponentials(size.columns, x + first, maximum);
      const T log_sum = static_cast<T>(elementary::log(sum));
#pragma GCC ivdep
      for (std::int64_t j = first; j < first + size.columns; ++j) output[j] = x[j] - maximum - log_sum;
    }
  });
}

#ifdef ACTORFLOW_CUDA

// Of rows that a warp's registers hold.
template <bool logarithm, int per_thread, class T>
void narrow_softmax_on_cuda(Device& device, Rows size, const T* x, T* output) {
  launch_rows(device, size.rows, [=] __device__(std::int64_t row_index) {
    const std::int64_t first = row_index * size.columns;
    RowInRegisters<T, per_thread> row(size.columns, [=](std::int64_t j) { return x[first + j]; });
    const T maximum = maximum_of(row);
    double sum = 0;
    row.for_each([&](std::int64_t, T& element) {
      const T power = std::exp(element - maximum);
      sum += static_cast<double>(power);
      element = logarithm ? element - maximum : power;
    });
    sum = sum_in_warp(sum);
    const T scale = static_cast<T>(1 / sum), log_sum = static_cast<T>(std::log(sum));
    row.for_each([&](std::int64_t j, T element) {
      output[first + j] = logarithm ? element - log_sum : element * scale;
    });
  });
}

template <bool logarithm, class T>
void narrow_softmax_on_cuda(Device& device, Rows size, const T* x, T* output) {
  with_elements_per_thread(size.columns, [&]<int per_thread>() {
    narrow_softmax_on_cuda<logarithm, per_thread>(device, size, x, output);
  });
}

template <class T>
void softmax_on_cuda(Device& device, Rows size, const T* x, T* output) {
  if (size.columns <= most_narrow_columns) return narrow_softmax_on_cuda<false>(device, size, x, output);
  launch_rows(device, size.rows, [=] __device__(std::int64_t row) {
    const std::int64_t first = row * size.columns;
    const SoftmaxNormalizer<T> sums = sum_row(x + first, size.columns);
    const T scale = static_cast<T>(1 / sums.sum);
    for (std::int64_t j = threadIdx.x; j < size.columns; j += warp)
      output[first + j] = std::exp(x[first + j] - sums.maximum) * scale;
  });
}

template <class T>
void log_softmax_on_cuda(Device& device, Rows size, const T* x, T* output) {
  if (size.columns <= most_narrow_columns) return narrow_softmax_on_cuda<true>(device, size, x, output);
  launch_rows(device, size.rows, [=] __device__(std::int64_t row) {
    const std::int64_t first = row * size.columns;
    const SoftmaxNormalizer<T> sums = sum_row(x + first, size.columns);
    const T log_sum = static_cast<T>(std::log(sums.sum));
    for (std::int64_t j = threadIdx.x; j < size.columns; j += warp)
      output[first + j] = x[first + j] - sums.maximum - log_sum;
  });
}

#endif

template <bool logarithm, class T>
void run_softmax(Device& device, Rows size, const T* x, T* output) {
#ifdef ACTORFLOW_CUDA
  constexpr auto on_cuda = logarithm ? log_softmax_on_cuda<T> : softmax_on_cuda<T>;
  if (device.type() == DeviceType::cuda) return on_cuda(device, size, x, output);
#endif
  constexpr auto on_cpu = logarithm ? log_softmax_on_cpu<T> : softmax_on_cpu<T>;
  if (device.type() == DeviceType::cpu) on_cpu(size, x, output);
}

template <bool logarithm>
void compute_softmax(OpContext& c) {
  const Rows size = rows_of(c, c.input(0));
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    Tensor& output = c.forward_or_allocate(0, 0, dtype_of<T>, c.input(0).shape());
    run_softmax<logarithm>(c.device(), size, static_cast<const T*>(c.input(0).data()),
                           static_cast<T*>(output.mutable_data()));
  });
}

}  // namespace

Output softmax(Output x) { return add_node(softmax_op(), {x}); }

Output log_softmax(Output x) { return add_node(log_softmax_op(), {x}); }

std::vector<Op> softmax_ops() {
  return {on_all_devices<in_float32<compute_softmax<false>>>(softmax_op()),
          on_all_devices<in_float32<compute_softmax<true>>>(log_softmax_op())};
}

}  // namespace actorflow

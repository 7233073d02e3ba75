// Softmax and LogSoftmax over the last axis, and SparseSoftmaxCrossEntropy.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/builtin_ops.h"
#include "kernels/dtypes.h"
#include "kernels/ops.h"
#include "kernels/rows.h"
#include "kernels/softmax_rows.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/cuda_device.h"
#endif

namespace actorflow {
namespace {

using LabelTypes = DTypes<std::int32_t, std::int64_t>;

void infer_like_input(InferContext& c) {
  expect_rows(c);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

Output sum_of_rows(Output x) { return sum(x, {-1}, true); }

// With y the output and g its gradient: (g - sum(g y)) y.
std::vector<Output> softmax_gradient(GradientContext& c) {
  const Output y = c.output(0), g = c.gradient();
  return {(g - sum_of_rows(g * y)) * y};
}

std::vector<Output> log_softmax_gradient(GradientContext& c) {
  const Output g = c.gradient();
  return {g - exp(c.output(0)) * sum_of_rows(g)};
}

void infer_cross_entropy(InferContext& c) {
  expect_rows(c);
  c.expect_rank(0, 2);
  c.expect_rank(1, 1);
  expect_dtype_in<LabelTypes>(c, 1);
  const Shape logits = c.input(0).shape.merge(Shape{Shape::unknown, Shape::unknown});
  const Shape labels = c.input(1).shape.merge(Shape{Shape::unknown});
  if (!Shape({logits[0]}).compatible_with(labels))
    c.fail("one label per row of logits", c.input(0).to_string() + " and " + c.input(1).to_string());
  const std::int64_t batch = logits[0] == Shape::unknown ? labels[0] : logits[0];
  c.add_output(c.input(0).dtype, {batch});
  c.add_output(c.input(0).dtype, {batch, logits[1]});
}

// The loss flows back along the second output, which the forward pass has computed already; what comes
// back through the second output itself, in gradients of gradients, flows along softmax's gradient.
std::vector<Output> cross_entropy_gradient(GradientContext& c) {
  Output total;
  if (c.gradient(0)) total = c.output(1) * expand_dims(c.gradient(0), {1});
  if (const Output g = c.gradient(1)) {
    const Output y = softmax(c.input(0));
    const Output second = (g - sum_of_rows(g * y)) * y;
    total = total ? total + second : second;
  }
  return {total, Output()};
}

const OpDef& softmax_op() {
  static const OpDef op{.name = "Softmax",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = infer_like_input,
                        .gradient = softmax_gradient};
  return op;
}

const OpDef& log_softmax_op() {
  static const OpDef op{.name = "LogSoftmax",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = infer_like_input,
                        .gradient = log_softmax_gradient};
  return op;
}

const OpDef& cross_entropy_op() {
  static const OpDef op{.name = "SparseSoftmaxCrossEntropy",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer_cross_entropy,
                        .gradient = cross_entropy_gradient};
  return op;
}

// The rows of `output` may be those of x.
template <class T>
void softmax_on_cpu(Rows size, const T* x, T* output) {
  vectorised([=] {
    for_each_softmax_block(size, [=](std::int64_t row, Rows block) {
      RowSums<T> sums;
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

// Writes the loss of each row and its gradient, softmax(x) - one_hot(label); `backprop` may be x.
template <class T, class Label>
void cross_entropy_on_cpu(Rows size, const T* x, const Label* labels, T* loss, T* backprop) {
  vectorised([=] {
    for_each_softmax_block(size, [=](std::int64_t row, Rows block) {
      const T* logits = x + row * size.columns;
      T* gradient = backprop + row * size.columns;
      T at_label[softmax_block_rows];
      for (std::int64_t i = 0; i < block.rows; ++i)
        at_label[i] = logits[i * size.columns + labels[row + i]];
      RowSums<T> sums;
      softmax_of_rows(block, logits, gradient, sums);
      for (std::int64_t i = 0; i < block.rows; ++i) {
        loss[row + i] = static_cast<T>(elementary::log(sums.sum[i])) + (sums.maximum[i] - at_label[i]);
        gradient[i * size.columns + labels[row + i]] -= 1;
      }
    });
  });
}

template <class Label>
void check_labels(const OpContext& context, std::int64_t classes) {
  const auto labels = context.input(1).values<Label>();
  for (std::size_t row = 0; row < labels.size(); ++row)
    if (labels[row] < 0 || labels[row] >= classes)
      context.fail("labels from 0 to " + std::to_string(classes - 1) + " for " +
                       std::to_string(classes) + " classes",
                   "label " + std::to_string(labels[row]) + " in row " + std::to_string(row));
}

#ifdef ACTORFLOW_CUDA

// On the GPU a warp computes a row. The butterfly gives every thread of it the same sum, in one order.

constexpr unsigned warp = 32;
constexpr unsigned warps_per_block = cuda_block_threads / warp;

template <class T, class Combine>
__device__ T combine_in_warp(T value, Combine combine) {
  for (unsigned distance = warp / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(~0U, value, distance));
  return value;
}

// The maximum of a row, and the sum of exp(x - maximum).
template <class T>
struct RowSum {
  T maximum;
  double sum;
};

template <class T>
__device__ RowSum<T> sum_row(const T* x, std::int64_t columns) {
  T maximum = -std::numeric_limits<T>::infinity();
  for (std::int64_t j = threadIdx.x; j < columns; j += warp) maximum = std::fmax(maximum, x[j]);
  maximum = combine_in_warp(maximum, [](T a, T b) { return std::fmax(a, b); });
  double sum = 0;
  for (std::int64_t j = threadIdx.x; j < columns; j += warp)
    sum += static_cast<double>(std::exp(x[j] - maximum));
  return {maximum, combine_in_warp(sum, [](double a, double b) { return a + b; })};
}

// Calls body(row) with the threads of one warp for each row.
template <class Body>
__global__ void for_each_row(std::int64_t rows, Body body) {
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

template <class T>
void softmax_on_cuda(Device& device, Rows size, const T* x, T* output) {
  launch_rows(device, size.rows, [=] __device__(std::int64_t row) {
    const std::int64_t first = row * size.columns;
    const RowSum<T> sums = sum_row(x + first, size.columns);
    const T scale = static_cast<T>(1 / sums.sum);
    for (std::int64_t j = threadIdx.x; j < size.columns; j += warp)
      output[first + j] = std::exp(x[first + j] - sums.maximum) * scale;
  });
}

template <class T>
void log_softmax_on_cuda(Device& device, Rows size, const T* x, T* output) {
  launch_rows(device, size.rows, [=] __device__(std::int64_t row) {
    const std::int64_t first = row * size.columns;
    const RowSum<T> sums = sum_row(x + first, size.columns);
    const T log_sum = static_cast<T>(std::log(sums.sum));
    for (std::int64_t j = threadIdx.x; j < size.columns; j += warp)
      output[first + j] = x[first + j] - sums.maximum - log_sum;
  });
}

// A label out of range cannot stop the host here: it makes its row NaN.
template <class T, class Label>
void cross_entropy_on_cuda(Device& device, Rows size, const T* x, const Label* labels, T* loss,
                           T* backprop) {
  launch_rows(device, size.rows, [=] __device__(std::int64_t row) {
    const std::int64_t first = row * size.columns, label = labels[row];
    const bool valid = label >= 0 && label < size.columns;
    const RowSum<T> sums = sum_row(x + first, size.columns);
    const T at_label = valid ? x[first + label] : std::numeric_limits<T>::quiet_NaN();
    const T scale = valid ? static_cast<T>(1 / sums.sum) : at_label;
    __syncwarp();  // `backprop` may be x
    for (std::int64_t j = threadIdx.x; j < size.columns; j += warp)
      backprop[first + j] = std::exp(x[first + j] - sums.maximum) * scale - (j == label ? T(1) : T(0));
    if (threadIdx.x == 0) loss[row] = static_cast<T>(std::log(sums.sum)) + (sums.maximum - at_label);
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

template <class T, class Label>
void run_cross_entropy(const OpContext& c, Rows size, const T* x, const Label* labels, T* loss,
                       T* backprop) {
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda)
    return cross_entropy_on_cuda(c.device(), size, x, labels, loss, backprop);
#endif
  check_labels<Label>(c, size.columns);
  cross_entropy_on_cpu(size, x, labels, loss, backprop);
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

template <class T, class Label>
void compute_cross_entropy_as(OpContext& c, Rows size) {
  const Tensor &logits = c.input(0), &labels = c.input(1);
  Tensor& loss = c.allocate_output(0, dtype_of<T>, labels.shape());
  Tensor& backprop = c.forward_or_allocate(0, 1, dtype_of<T>, logits.shape());
  run_cross_entropy(c, size, static_cast<const T*>(logits.data()),
                    static_cast<const Label*>(labels.data()), static_cast<T*>(loss.mutable_data()),
                    static_cast<T*>(backprop.mutable_data()));
}

void compute_cross_entropy(OpContext& c) {
  const Tensor &logits = c.input(0), &labels = c.input(1);
  if (logits.shape().rank() != 2 || labels.shape() != Shape({logits.shape()[0]}))
    c.fail("logits [batch, classes] and labels [batch]",
           logits.describe() + " and " + labels.describe());
  const Rows size{logits.shape()[0], logits.shape()[1]};
  dispatch<FloatingTypes>(c, logits, [&]<class T>() {
    dispatch<LabelTypes>(c, labels, [&]<class Label>() { compute_cross_entropy_as<T, Label>(c, size); });
  });
}

}  // namespace

Output softmax(Output x) { return x.graph->add(softmax_op(), {x}); }

Output log_softmax(Output x) { return x.graph->add(log_softmax_op(), {x}); }

Output softmax_cross_entropy(Output logits, Output labels) {
  return logits.graph->add(cross_entropy_op(), {logits, labels});
}

std::vector<Op> softmax_ops() {
  return {on_all_devices<compute_softmax<false>>(softmax_op()),
          on_all_devices<compute_softmax<true>>(log_softmax_op()),
          on_all_devices<compute_cross_entropy>(cross_entropy_op())};
}

}  // namespace actorflow

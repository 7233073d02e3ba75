// SparseSoftmaxCrossEntropy, and the op that fusion puts in the place of it, its mean and its gradient.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/devices/host_device.h"
#include "kernels/loops/elementary.h"
#include "kernels/loops/vectorised.h"
#include "kernels/ops.h"
#include "kernels/ops/reduce.h"
#include "kernels/rows/softmax_rows.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

using LabelTypes = DTypes<std::int32_t, std::int64_t>;

// Adds nothing: returns the shape of the logits, merged with what the labels tell.
Shape check_types(const InferContext& c) {
  expect_rows(c);
  c.expect_rank(0, 2);
  c.expect_rank(1, 1);
  expect_dtype_in<LabelTypes>(c, 1);
  const Shape logits = c.input(0).shape.merge(Shape{Shape::unknown, Shape::unknown});
  const Shape labels = c.input(1).shape.merge(Shape{Shape::unknown});
  if (!Shape({logits[0]}).compatible_with(labels))
    c.fail("one label per row of logits", c.input(0).to_string() + " and " + c.input(1).to_string());
  return {logits[0] == Shape::unknown ? labels[0] : logits[0], logits[1]};
}

void infer_cross_entropy(InferContext& c) {
  const Shape logits = check_types(c);
  c.add_output(c.input(0).dtype, {logits[0]});
  c.add_output(c.input(0).dtype, logits);
}

void infer_mean_cross_entropy(InferContext& c) {
  const Shape logits = check_types(c);
  c.expect_rank(2, 0);
  expect_dtype_in<FloatingTypes>(c, 2);
  c.add_output(c.input(0).dtype, {});
  c.add_output(c.input(0).dtype, logits);
}

// The loss flows back along the second output, which the forward pass has computed already; what comes
// back through the second output itself, in gradients of gradients, flows along softmax's gradient.
std::vector<Output> cross_entropy_gradient(GradientContext& c) {
  Output total;
  if (c.gradient(0)) total = c.output(1) * expand_dims(c.gradient(0), {1});
  if (const Output g = c.gradient(1)) {
    const Output y = softmax(c.input(0));
    const Output second = (g - sum(g * y, {-1}, true)) * y;
    total = total ? total + second : second;
  }
  return {total, Output()};
}

const OpDef& cross_entropy_op() {
  static const OpDef op{.name = "SparseSoftmaxCrossEntropy",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer_cross_entropy,
                        .gradient = cross_entropy_gradient};
  return op;
}

// (logits, labels, g) -> (the mean of the losses, the logits' gradient where g is that of the mean).
const OpDef& mean_cross_entropy_op() {
  static const OpDef op{.name = "MeanSparseSoftmaxCrossEntropy",
                        .min_inputs = 3,
                        .max_inputs = 3,
                        .infer = infer_mean_cross_entropy};
  return op;
}

// What the gradient of each row's loss is multiplied by: g / rows as SpreadLike computes it, or 1. The
// scalar g lies on the device.
template <class T>
struct Weight {
  const T* g;
  T share;
  ACTORFLOW_HOST_DEVICE T operator()() const { return g ? *g * share : T(1); }
};

// Writes the loss of each row and its gradient, softmax(x) - one_hot(label), times the weight; backprop
// may be x.
template <class T, class Label>
void cross_entropy_on_cpu(Rows size, const T* x, const Label* labels, T* loss, T* backprop, T weight) {
  vectorised([=] {
    for_each_softmax_block(size, [=](std::int64_t row, Rows block) {
      const T* logits = x + row * size.columns;
      T* gradient = backprop + row * size.columns;
      T at_label[softmax_block_rows];
      for (std::int64_t i = 0; i < block.rows; ++i)
        at_label[i] = logits[i * size.columns + labels[row + i]];
      SoftmaxNormalizers<T> sums;
      softmax_of_rows(block, logits, gradient, sums);
      for (std::int64_t i = 0; i < block.rows; ++i) {
        loss[row + i] = static_cast<T>(elementary::log(sums.sum[i])) + (sums.maximum[i] - at_label[i]);
        gradient[i * size.columns + labels[row + i]] -= 1;
      }
      for (std::int64_t i = 0; i < block.rows * size.columns; ++i) gradient[i] *= weight;
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

// A label out of range cannot stop the host here: it makes its row NaN.
template <class T, class Label>
void cross_entropy_on_cuda(Device& device, Rows size, const T* x, const Label* labels, T* loss,
                           T* backprop, Weight<T> weight) {
  launch_rows(device, size.rows, [=] __device__(std::int64_t row) {
    const std::int64_t first = row * size.columns, label = labels[row];
    const bool valid = label >= 0 && label < size.columns;
    const SoftmaxNormalizer<T> sums = sum_row(x + first, size.columns);
    const T at_label = valid ? x[first + label] : std::numeric_limits<T>::quiet_NaN();
    const T scale = valid ? static_cast<T>(1 / sums.sum) : at_label;
    __syncwarp();  // `backprop` may be x
    for (std::int64_t j = threadIdx.x; j < size.columns; j += warp)
      backprop[first + j] =
          (std::exp(x[first + j] - sums.maximum) * scale - (j == label ? T(1) : T(0))) * weight();
    if (threadIdx.x == 0) loss[row] = static_cast<T>(std::log(sums.sum)) + (sums.maximum - at_label);
  });
}

#endif

template <class T, class Label>
void run_cross_entropy(const OpContext& c, Rows size, T* loss, T* backprop, Weight<T> weight) {
  const auto* x = static_cast<const T*>(c.input(0).data());
  const auto* labels = static_cast<const Label*>(c.input(1).data());
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda)
    return cross_entropy_on_cuda(c.device(), size, x, labels, loss, backprop, weight);
#endif
  check_labels<Label>(c, size.columns);
  cross_entropy_on_cpu(size, x, labels, loss, backprop, weight());
}

Rows check_inputs(const OpContext& c) {
  const Tensor &logits = c.input(0), &labels = c.input(1);
  if (logits.shape().rank() != 2 || labels.shape() != Shape({logits.shape()[0]}))
    c.fail("logits [batch, classes] and labels [batch]",
           logits.describe() + " and " + labels.describe());
  return {logits.shape()[0], logits.shape()[1]};
}

template <class T, class Label>
void compute_cross_entropy_as(OpContext& c, Rows size) {
  Tensor& loss = c.allocate_output(0, dtype_of<T>, {size.rows});
  Tensor& backprop = c.forward_or_allocate(0, 1, dtype_of<T>, c.input(0).shape());
  run_cross_entropy<T, Label>(c, size, static_cast<T*>(loss.mutable_data()),
                              static_cast<T*>(backprop.mutable_data()), Weight<T>{nullptr, T(1)});
}

void compute_cross_entropy(OpContext& c) {
  const Rows size = check_inputs(c);
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    dispatch<LabelTypes>(c, c.input(1),
                         [&]<class Label>() { compute_cross_entropy_as<T, Label>(c, size); });
  });
}

template <class T, class Label>
void compute_mean_cross_entropy_as(OpContext& c, Rows size) {
  const BufferRef losses = c.scratch(static_cast<std::size_t>(size.rows) * sizeof(T));
  auto* loss = static_cast<T*>(losses->data());
  Tensor& mean = c.allocate_output(0, dtype_of<T>, {});
  Tensor& backprop = c.forward_or_allocate(0, 1, dtype_of<T>, c.input(0).shape());
  const T share = T(1) / static_cast<T>(std::max<std::int64_t>(size.rows, 1));
  run_cross_entropy<T, Label>(c, size, loss, static_cast<T*>(backprop.mutable_data()),
                              Weight<T>{static_cast<const T*>(c.input(2).data()), share});
  const auto all = reduce_loops({size.rows}, [](int) { return true; });
  reduce<MeanReducer<T>>(c.device(), all, loss, static_cast<T*>(mean.mutable_data()));
}

void compute_mean_cross_entropy(OpContext& c) {
  const Rows size = check_inputs(c);
  const Tensor& g = c.input(2);
  if (g.dtype() != c.input(0).dtype() || g.elements() != 1)
    c.fail("a scalar gradient of the logits' dtype", g.describe());
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    dispatch<LabelTypes>(c, c.input(1),
                         [&]<class Label>() { compute_mean_cross_entropy_as<T, Label>(c, size); });
  });
}

}  // namespace

Output softmax_cross_entropy(Output logits, Output labels) {
  return add_node(cross_entropy_op(), {logits, labels});
}

std::vector<Op> cross_entropy_ops() {
  return {on_all_devices<compute_cross_entropy>(cross_entropy_op()),
          on_all_devices<compute_mean_cross_entropy>(mean_cross_entropy_op())};
}

}  // namespace actorflow

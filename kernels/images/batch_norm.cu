// FusedBatchNorm, by the statistics of the batch, with what often follows it: adding another tensor and
// relu. And its gradient.
#include <string>
#include <vector>

#include "kernels/images/batch_norm_cpu.h"

#include "dataflow/graph/gradient.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/images/batch_norm_cuda.h"
#endif

namespace actorflow {
namespace {

const OpDef& batch_norm_grad_op();

// Inputs from..to are one value per column of input `matrix`.
void expect_columns(const InferContext& c, int matrix, int from, int to) {
  const Shape& x = c.input(matrix).shape;
  const std::int64_t channels = x.has_rank() ? x[x.rank() - 1] : Shape::unknown;
  for (int i = from; i <= to; ++i)
    if (!c.input(i).shape.compatible_with({channels}))
      c.fail("one value per channel as input " + std::to_string(i),
             c.input(matrix).to_string() + " and " + c.input(i).to_string());
}

void expect_like_input(const InferContext& c, int i) {
  if (!c.input(i).shape.compatible_with(c.input(0).shape))
    c.fail("an input " + std::to_string(i) + " of the shape of input 0",
           c.input(0).to_string() + " and " + c.input(i).to_string());
}

void infer_batch_norm(InferContext& c) {
  expect_rows(c);
  c.expect_same_dtype();
  expect_columns(c, 0, 1, 2);
  if (c.inputs() == 4) expect_like_input(c, 3);
  if (c.attr<double>("epsilon") < 0)
    c.fail("an epsilon of at least 0", std::to_string(c.attr<double>("epsilon")));
  c.add_output(c.input(0).dtype, c.input(0).shape);
  const Shape& x = c.input(0).shape;
  for (int i = 0; i < 3; ++i)
    c.add_output(c.input(0).dtype, {x.has_rank() ? x[x.rank() - 1] : Shape::unknown});
}

void infer_batch_norm_grad(InferContext& c) {
  expect_rows(c);
  c.expect_same_dtype();
  expect_like_input(c, 1);
  expect_columns(c, 0, 2, 5);
  if (c.inputs() == 7) expect_like_input(c, 6);
  const TensorType x = c.input(1), scale = c.input(2);
  for (const TensorType& type : {x, scale, scale}) c.add_output(type.dtype, type.shape);
  if (c.inputs() == 7) c.add_output(x.dtype, x.shape);
}

// What flows back along the statistics themselves; a program that only keeps moving averages of them
// has none.
Output gradient_by_statistics(GradientContext& c) {
  const Output x = c.input(0), mean = c.output(1), inverse_stddev = c.output(3);
  const Output count = sum_like(ones_like(x), mean);
  Output slope = zeros_like(mean);
  if (c.gradient(2)) slope = slope + c.gradient(2) * 2 / maximum(count - 1, ones_like(count));
  if (c.gradient(3)) slope = slope - c.gradient(3) * pow(inverse_stddev, 3 * ones_like(mean)) / count;
  const Output through_variance = (x - mean) * slope;
  return c.gradient(1) ? through_variance + spread_like(c.gradient(1), x) : through_variance;
}

std::vector<Output> batch_norm_gradient(GradientContext& c) {
  const bool relu = c.attr<bool>("relu"), side = c.node().inputs.size() == 4;
  std::vector<Output> gradients(c.node().inputs.size());
  if (const Output g = c.gradient(0)) {
    std::vector<Output> inputs{g, c.input(0), c.input(1), c.input(2), c.output(1), c.output(3)};
    if (relu && side) inputs.push_back(c.output(0));
    const Output backward = c.graph().add(batch_norm_grad_op(), inputs, {{"relu", relu}});
    for (int i = 0; i < 3; ++i) gradients[static_cast<std::size_t>(i)] = backward.output(i);
    if (side) gradients[3] = relu ? backward.output(3) : g;
  }
  if (c.gradient(1) || c.gradient(2) || c.gradient(3)) {
    const Output more = gradient_by_statistics(c);
    gradients[0] = gradients[0] ? gradients[0] + more : more;
  }
  return gradients;
}

// (x, scale, offset[, side input]) -> y, mean, variance (unbiased, for the moving average),
// inverse_stddev (of the biased variance plus epsilon).
const OpDef& batch_norm_op() {
  static const OpDef op{.name = "FusedBatchNorm",
                        .min_inputs = 3,
                        .max_inputs = 4,
                        .attrs = {{"epsilon", 1e-3}, {"relu", false}},
                        .infer = infer_batch_norm,
                        .gradient = batch_norm_gradient};
  return op;
}

// What flows back along x through the statistics is a matter of the node that gives these.
std::vector<Output> batch_norm_second_gradient(GradientContext& c) {
  const bool side = c.node().inputs.size() == 7;
  const Output x = c.input(1), scale = c.input(2), offset = c.input(3), mean = c.input(4),
               inverse_stddev = c.input(5);
  const Output h = (x - mean) * inverse_stddev;
  Output g = c.input(0);
  if (c.attr<bool>("relu")) {
    const Output y = side ? c.input(6) : h * scale + offset;
    g = select(y > 0, g, zeros_like(g));
  }
  const Output e = g * scale;
  const Output dx = (e - mean_like(e, mean) - h * mean_like(e * h, mean)) * inverse_stddev;
  std::vector<Output> composed{dx, sum_like(g * h, scale), sum_like(g, offset)};
  if (side) composed.push_back(g);
  return gradients_of_composition(c, composed);
}

// (gradient of y, x, scale, offset, mean, inverse_stddev[, y]) -> gradients of x, scale, offset[, side
// input]. Without y, whether the relu passed a value is computed again from x, which costs less than to
// read it.
const OpDef& batch_norm_grad_op() {
  static const OpDef op{.name = "FusedBatchNormGrad",
                        .min_inputs = 6,
                        .max_inputs = 7,
                        .attrs = {{"relu", false}},
                        .infer = infer_batch_norm_grad,
                        .gradient = batch_norm_second_gradient};
  return op;
}

// Matrix and column vectors, or an error in terms of the node.
Rows checked_rows(const OpContext& c, int matrix, int from, int to) {
  const Tensor& x = c.input(matrix);
  const Rows size = rows_of(c, x);
  for (int i = 0; i < c.inputs(); ++i) {
    const Tensor& input = c.input(i);
    const bool is_column = i >= from && i <= to;
    if (input.dtype() != x.dtype() || input.shape() != (is_column ? Shape{size.columns} : x.shape()))
      c.fail(is_column ? "one value per channel" : "tensors of one type",
             x.describe() + " and " + input.describe());
  }
  return size;
}

void compute_batch_norm(OpContext& c) {
  const Tensor& x = c.input(0);
  const Rows size = checked_rows(c, 0, 1, 2);
  const bool has_side = c.inputs() == 4;
  dispatch<FloatingTypes>(c, x, [&]<class T>() {
    Tensor& y = has_side ? c.forward_or_allocate(3, 0, x.dtype(), x.shape())
                         : c.allocate_output(0, x.dtype(), x.shape());
    for (int i = 1; i < 4; ++i) c.allocate_output(i, x.dtype(), {size.columns});
    const ForwardTask<T> task{size,
                              attr<double>(c.node(), "epsilon"),
                              attr<bool>(c.node(), "relu"),
                              data_of<T>(x),
                              data_of<T>(c.input(1)),
                              data_of<T>(c.input(2)),
                              has_side ? data_of<T>(c.input(3)) : nullptr,
                              mutable_data_of<T>(y),
                              mutable_data_of<T>(c.output(1)),
                              mutable_data_of<T>(c.output(2)),
                              mutable_data_of<T>(c.output(3))};
#ifdef ACTORFLOW_CUDA
    if (c.device().type() == DeviceType::cuda) return forward_on_cuda(c.device(), task);
#endif
    forward_on_cpu(c, task);
  });
}

void compute_batch_norm_grad(OpContext& c) {
  const Tensor& x = c.input(1);
  const Rows size = checked_rows(c, 1, 2, 5);
  const bool relu = attr<bool>(c.node(), "relu"), has_y = c.inputs() == 7;
  const ReluMask mask = !relu ? ReluMask::none : has_y ? ReluMask::from_output : ReluMask::recomputed;
  dispatch<FloatingTypes>(c, x, [&]<class T>() {
    // The side input's gradient is g with zeros: it takes the place of g if there is one.
    if (has_y) c.forward_or_allocate(0, 3, x.dtype(), x.shape());
    has_y ? c.allocate_output(0, x.dtype(), x.shape())
          : c.forward_or_allocate(0, 0, x.dtype(), x.shape());
    for (const int i : {1, 2}) c.allocate_output(i, x.dtype(), {size.columns});
    const BackwardTask<T> task{size,
                               mask,
                               data_of<T>(c.input(0)),
                               data_of<T>(x),
                               data_of<T>(c.input(2)),
                               data_of<T>(c.input(3)),
                               data_of<T>(c.input(4)),
                               data_of<T>(c.input(5)),
                               has_y ? data_of<T>(c.input(6)) : nullptr,
                               mutable_data_of<T>(c.output(0)),
                               mutable_data_of<T>(c.output(1)),
                               mutable_data_of<T>(c.output(2)),
                               has_y ? mutable_data_of<T>(c.output(3)) : nullptr};
#ifdef ACTORFLOW_CUDA
    if (c.device().type() == DeviceType::cuda) return backward_on_cuda(c.device(), task);
#endif
    backward_on_cpu(c, task);
  });
}

}  // namespace

BatchNorm batch_norm(Output x, Output scale, Output offset, double epsilon, bool relu, Output side) {
  std::vector<Output> inputs{x, scale, offset};
  if (side) inputs.push_back(side);
  const Output y = add_node(batch_norm_op(), inputs, {{"epsilon", epsilon}, {"relu", relu}});
  return {y, y.output(1), y.output(2)};
}

Output batch_norm_inference(Output x, Output scale, Output offset, Output mean, Output variance,
                            double epsilon) {
  const Output factor = scale / sqrt(variance + epsilon);
  return x * factor + (offset - mean * factor);
}

std::vector<Op> batch_norm_ops() {
  return {on_all_devices<compute_batch_norm>(batch_norm_op()),
          on_all_devices<compute_batch_norm_grad>(batch_norm_grad_op())};
}

}  // namespace actorflow

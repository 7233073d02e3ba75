// MaxPool and AvgPool over windows of images, and their gradients.
#include "kernels/images/pooling.h"

#include <algorithm>
#include <string>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/images/pooling_cuda.h"
#endif

namespace actorflow {
namespace {

const OpDef& avg_pool_op();
const OpDef& max_pool_grad_op();
const OpDef& avg_pool_grad_op();

void expect_images(const InferContext& c) {
  expect_dtype_in<FloatingTypes>(c, 0);
  c.expect_same_dtype();
  for (int i = 0; i < c.inputs(); ++i) c.expect_rank(i, 4);
}

void infer_pool(InferContext& c) {
  expect_images(c);
  const Extent windows = expect_extent(c, "ksize");
  const Shape& images = c.input(0).shape;
  c.add_output(c.input(0).dtype, infer_sliding(c, expect_sliding(c), windows.height, windows.width,
                                               images.has_rank() ? images[3] : Shape::unknown));
}

void infer_pool_grad(InferContext& c) {
  expect_images(c);
  expect_extent(c, "ksize");
  expect_sliding(c);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

std::vector<Output> max_pool_gradient(GradientContext& c) {
  return {c.graph().add(max_pool_grad_op(), {c.input(0), c.output(0), c.gradient()}, c.node().attrs)};
}

std::vector<Output> avg_pool_gradient(GradientContext& c) {
  return {c.graph().add(avg_pool_grad_op(), {c.input(0), c.gradient()}, c.node().attrs)};
}

std::vector<Output> avg_pool_grad_gradient(GradientContext& c) {
  return {Output(), c.graph().add(avg_pool_op(), {c.gradient()}, c.node().attrs)};
}

OpDef pool_def(std::string_view name, int inputs, decltype(OpDef::infer) infer,
               decltype(OpDef::gradient) gradient) {
  OpDef def{.name = name,
            .min_inputs = inputs,
            .max_inputs = inputs,
            .attrs = sliding_attrs(),
            .infer = infer,
            .gradient = gradient};
  def.attrs.emplace_back("ksize", std::vector<std::int64_t>{1, 1, 1, 1}, true);
  return def;
}

const OpDef& max_pool_op() {
  static const OpDef op = pool_def("MaxPool", 1, infer_pool, max_pool_gradient);
  return op;
}

const OpDef& avg_pool_op() {
  static const OpDef op = pool_def("AvgPool", 1, infer_pool, avg_pool_gradient);
  return op;
}

// (images, outputs, gradient) -> gradient of the images.
const OpDef& max_pool_grad_op() {
  static const OpDef op = pool_def("MaxPoolGrad", 3, infer_pool_grad, no_gradient_yet);
  return op;
}

// (images, of which the shape counts, gradient) -> gradient of the images.
const OpDef& avg_pool_grad_op() {
  static const OpDef op = pool_def("AvgPoolGrad", 2, infer_pool_grad, avg_pool_grad_gradient);
  return op;
}

PoolShape pool_shape(const OpContext& c) {
  const Shape& x = c.input(0).shape();
  if (x.rank() != 4) c.fail("images [batch, height, width, channels]", c.input(0).describe());
  const Sliding sliding = sliding_of(c.node());
  const Extent windows = extent_of(attr<std::vector<std::int64_t>>(c.node(), "ksize"));
  return {x[0], x[3], sliding.rows(c, x, windows.height), sliding.columns(c, x, windows.width)};
}

void expect_outputs(const OpContext& c, int input, const PoolShape& shape) {
  const Tensor& tensor = c.input(input);
  if (tensor.dtype() != c.input(0).dtype() || tensor.shape() != shape.outputs())
    c.fail("an input " + std::to_string(input) + " of shape " + shape.outputs().to_string(),
           tensor.describe());
}

// Calls body(part, image, output) for each part of the batch, on several threads where they are free:
// the part's shape, and where its images and outputs begin.
template <class Body>
void for_each_part(const OpContext& c, const PoolShape& s, const Body& body) {
  constexpr std::int64_t worth_a_thread = 1 << 16;
  const auto wanted = std::min(s.batch, s.batch * s.image_elements() / worth_a_thread);
  share_out(c.team(), Shares(s.batch, wanted, 4), [&](std::int64_t first, std::int64_t last) {
    PoolShape part = s;
    part.batch = last - first;
    body(part, first * s.image_elements(), first * s.output_elements());
  });
}

template <bool maximum>
void compute_pool(OpContext& c) {
  const PoolShape s = pool_shape(c);
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    Tensor& output = c.allocate_output(0, dtype_of<T>, s.outputs());
    const T* x = data_of<T>(c.input(0));
    T* y = static_cast<T*>(output.mutable_data());
#ifdef ACTORFLOW_CUDA
    if (c.device().type() == DeviceType::cuda) {
      if constexpr (maximum)
        return launch_pooling(c, s, output, FoldOfWindow<MaximumOfWindow, T>{s, x, y}, x);
      else
        return launch_pooling(c, s, output, FoldOfWindow<MeanOfWindow, T>{s, x, y}, x);
    }
#endif
    for_each_part(c, s, [&](const PoolShape& part, std::int64_t image, std::int64_t out) {
      maximum ? max_pool_on_cpu(part, x + image, y + out) : avg_pool_on_cpu(part, x + image, y + out);
    });
  });
}

void compute_max_pool_grad(OpContext& c) {
  const PoolShape s = pool_shape(c);
  for (const int input : {1, 2}) expect_outputs(c, input, s);
  const bool on_cpu = c.device().type() == DeviceType::cpu;
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    Tensor& gradient = on_cpu && s.apart() ? c.forward_or_allocate(0, 0, dtype_of<T>, s.images())
                                           : c.allocate_output(0, dtype_of<T>, s.images());
    const T *x = data_of<T>(c.input(0)), *y = data_of<T>(c.input(1)), *g = data_of<T>(c.input(2));
    T* dx = static_cast<T*>(gradient.mutable_data());
#ifdef ACTORFLOW_CUDA
    if (!on_cpu) return max_pool_grad_on_cuda(c, s, gradient, x, y, g);
#endif
    for_each_part(c, s, [&](const PoolShape& part, std::int64_t image, std::int64_t out) {
      if (s.apart()) {
        max_pool_grad_on_cpu<true>(part, x + image, y + out, g + out, dx + image);
        return clear_between_windows(part, dx + image);
      }
      std::fill_n(dx + image, part.batch * s.image_elements(), T(0));
      max_pool_grad_on_cpu<false>(part, x + image, y + out, g + out, dx + image);
    });
  });
}

void compute_avg_pool_grad(OpContext& c) {
  const PoolShape s = pool_shape(c);
  expect_outputs(c, 1, s);
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    Tensor& gradient = c.allocate_output(0, dtype_of<T>, s.images());
    const T* g = data_of<T>(c.input(1));
    T* dx = static_cast<T*>(gradient.mutable_data());
#ifdef ACTORFLOW_CUDA
    if (c.device().type() == DeviceType::cuda)
      return launch_pooling(c, s, gradient, GradientOfMean<T>{s, g, dx}, g);
#endif
    for_each_part(c, s, [&](const PoolShape& part, std::int64_t image, std::int64_t out) {
      std::fill_n(dx + image, part.batch * s.image_elements(), T(0));
      avg_pool_grad_on_cpu(part, g + out, dx + image);
    });
  });
}

Output pool(const OpDef& op, Output images, Extent windows, Extent strides, Padding padding) {
  Attrs attrs = sliding_values(strides, padding);
  attrs["ksize"] = extent_value(windows);
  return add_node(op, {images}, attrs);
}

}  // namespace

Output max_pool(Output images, Extent windows, Extent strides, Padding padding) {
  return pool(max_pool_op(), images, windows, strides, padding);
}

Output avg_pool(Output images, Extent windows, Extent strides, Padding padding) {
  return pool(avg_pool_op(), images, windows, strides, padding);
}

std::vector<Op> pooling_ops() {
  return {on_all_devices<compute_pool<true>>(max_pool_op()),
          on_all_devices<compute_pool<false>>(avg_pool_op()),
          on_all_devices<compute_max_pool_grad>(max_pool_grad_op()),
          on_all_devices<compute_avg_pool_grad>(avg_pool_grad_op())};
}

}  // namespace actorflow

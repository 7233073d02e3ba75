// Conv2D of images [batch, height, width, channels] and its gradients, alone and with bias and relu.
//
// oneDNN and cuDNN compute float32, plain loops the rest. Images stay in plain row-major memory between
// the ops: on CPUs with AVX-512 oneDNN is as fast on it as on its own layouts (see
// kernels/DECISIONS.md).
#include <memory>
#include <string>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/images/conv.h"
#include "kernels/images/onednn_conv.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDNN
#include "kernels/images/cudnn_conv.h"
#endif

namespace actorflow {
namespace {

const OpDef& conv2d_op();
const OpDef& fused_conv2d_op();
const OpDef& backprop_input_op();
const OpDef& backprop_filter_op();
const OpDef& fused_backprop_filter_op();

// A filter's dimension, or unknown.
std::int64_t dim_of(const Shape& shape, int axis) {
  return shape.has_rank() ? shape[axis] : Shape::unknown;
}

void expect_images_and_filter(const InferContext& c, int filter = 1) {
  expect_dtype_in<FloatingTypes>(c, 0);
  c.expect_same_dtype();
  c.expect_rank(0, 4);
  c.expect_rank(filter, 4);
  expect_precision(c);
  expect_sliding(c);
}

void infer_conv2d(InferContext& c) {
  expect_images_and_filter(c);
  const Shape &images = c.input(0).shape, &filter = c.input(1).shape;
  if (!Shape({dim_of(images, 3)}).compatible_with({dim_of(filter, 2)}))
    c.fail("images with as many channels as the filter [height, width, in, out] takes in",
           c.input(0).to_string() + " and " + c.input(1).to_string());
  const std::int64_t out = dim_of(filter, 3);
  if (c.inputs() == 3 && !c.input(2).shape.compatible_with({out}))
    c.fail("a bias with one value per channel", c.input(2).to_string());
  c.add_output(c.input(0).dtype,
               infer_sliding(c, expect_sliding(c), dim_of(filter, 0), dim_of(filter, 1), out));
}

void infer_backprop_input(InferContext& c) {
  expect_images_and_filter(c);
  c.expect_rank(2, 4);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

void infer_backprop_filter(InferContext& c) {
  expect_images_and_filter(c);
  c.expect_rank(2, 4);
  c.add_output(c.input(0).dtype, c.input(1).shape);
}

void infer_fused_backprop_filter(InferContext& c) {
  infer_backprop_filter(c);
  c.add_output(c.input(0).dtype, {dim_of(c.input(1).shape, 3)});
}

// Another op of the family, which slides as the node does.
Output related(GradientContext& c, const OpDef& op, const std::vector<Output>& inputs) {
  return c.graph().add(op, inputs,
                       {{"strides", c.attr<std::vector<std::int64_t>>("strides")},
                        {"padding", c.attr<std::string>("padding")}});
}

// Each op is linear in the images and in the filter, so that the gradients of all are ops of the family.

std::vector<Output> conv2d_gradient(GradientContext& c) {
  const Output images = c.input(0), filter = c.input(1), g = c.gradient();
  return {related(c, backprop_input_op(), {images, filter, g}),
          related(c, backprop_filter_op(), {images, filter, g})};
}

std::vector<Output> fused_conv2d_gradient(GradientContext& c) {
  const Output images = c.input(0), filter = c.input(1);
  const Output g = c.attr<bool>("relu") ? relu_grad(c.gradient(), c.output(0)) : c.gradient();
  const Output of_filter = related(c, fused_backprop_filter_op(), {images, filter, g});
  return {related(c, backprop_input_op(), {images, filter, g}), of_filter, of_filter.output(1)};
}

// With h the gradient of the images' gradient, and g that of the output.
std::vector<Output> backprop_input_gradient(GradientContext& c) {
  const Output filter = c.input(1), g = c.input(2), h = c.gradient();
  return {Output(), related(c, backprop_filter_op(), {h, filter, g}),
          related(c, conv2d_op(), {h, filter})};
}

// With h the gradient of the filter's gradient.
std::vector<Output> backprop_filter_gradient(GradientContext& c) {
  const Output images = c.input(0), g = c.input(2), h = c.gradient();
  return {related(c, backprop_input_op(), {images, h, g}), Output(),
          related(c, conv2d_op(), {images, h})};
}

std::vector<Output> fused_backprop_filter_gradient(GradientContext& c) {
  const Output images = c.input(0), g = c.input(2);
  const Output h = c.gradient(0) ? c.gradient(0) : zeros_like(c.input(1));
  const Output of_g = related(c, conv2d_op(), {images, h});
  return {related(c, backprop_input_op(), {images, h, g}), Output(),
          c.gradient(1) ? bias_add(of_g, c.gradient(1)) : of_g};
}

OpDef conv_def(std::string_view name, int inputs, decltype(OpDef::infer) infer,
               decltype(OpDef::gradient) gradient) {
  std::vector<AttrDef> attrs = sliding_attrs();
  attrs.push_back(precision_attr());
  return {.name = name,
          .min_inputs = inputs,
          .max_inputs = inputs,
          .attrs = std::move(attrs),
          .infer = infer,
          .gradient = gradient};
}

const OpDef& conv2d_op() {
  static const OpDef op = conv_def("Conv2D", 2, infer_conv2d, conv2d_gradient);
  return op;
}

const OpDef& fused_conv2d_op() {
  static const OpDef op = [] {
    OpDef def = conv_def("FusedConv2D", 3, infer_conv2d, fused_conv2d_gradient);
    def.attrs.push_back({"relu", false});
    return def;
  }();
  return op;
}

const OpDef& backprop_input_op() {
  static const OpDef op =
      conv_def("Conv2DBackpropInput", 3, infer_backprop_input, backprop_input_gradient);
  return op;
}

const OpDef& backprop_filter_op() {
  static const OpDef op =
      conv_def("Conv2DBackpropFilter", 3, infer_backprop_filter, backprop_filter_gradient);
  return op;
}

const OpDef& fused_backprop_filter_op() {
  static const OpDef op = conv_def("FusedConv2DBackpropFilter", 3, infer_fused_backprop_filter,
                                   fused_backprop_filter_gradient);
  return op;
}

// What the kernels have in common: input 0 is the images (or has their shape), input 1 the filter.
class Conv : public Kernel {
 protected:
  explicit Conv(const Node& node) : Conv(node, precision_of(node)) {}

  ConvShape shape_of(const OpContext& c) const {
    const Tensor &images = c.input(0), &filter = c.input(1);
    for (int i = 1; i < c.inputs(); ++i)
      if (c.input(i).dtype() != images.dtype())
        c.fail("inputs of one dtype", images.describe() + " and " + c.input(i).describe());
    const Shape &x = images.shape(), &f = filter.shape();
    if (!is_float32_or_64(images.dtype()) || x.rank() != 4 || f.rank() != 4 || x[3] != f[2])
      c.fail("images [batch, height, width, in] and a filter [height, width, in, out]",
             images.describe() + " and " + filter.describe());
    return {x[0], x[3], f[3], sliding_.rows(c, x, f[0]), sliding_.columns(c, x, f[1])};
  }

  ConvShape shape_with_gradient(const OpContext& c) const {
    const ConvShape shape = shape_of(c);
    if (c.input(2).shape() != shape.outputs())
      c.fail("a gradient of shape " + shape.outputs().to_string(), c.input(2).describe());
    return shape;
  }

  const ConvBackend& backend(const OpContext& c, const ConvShape& shape) const {
    const bool empty = shape.outputs().elements() == 0 || shape.filter_elements() == 0;
    if (c.input(0).dtype() != DType::float32 || empty) return loops_;
    if (c.device().type() == DeviceType::cpu) return onednn_;
#ifdef ACTORFLOW_CUDNN
    return cudnn_;
#else
    return loops_;
#endif
  }

 private:
#ifdef ACTORFLOW_CUDNN
  Conv(const Node& node, Precision precision)
      : sliding_(sliding_of(node)), onednn_(precision), cudnn_(precision) {}
#else
  Conv(const Node& node, Precision precision) : sliding_(sliding_of(node)), onednn_(precision) {}
#endif

  Sliding sliding_;
  LoopConv loops_;
  OneDnnConv onednn_;
#ifdef ACTORFLOW_CUDNN
  CudnnConv cudnn_;
#endif
};

class ForwardKernel final : public Conv {
 public:
  explicit ForwardKernel(const Node& node)
      : Conv(node), relu_(node.op == &fused_conv2d_op() && attr<bool>(node, "relu")) {}

  void compute(OpContext& c) const override {
    const ConvShape shape = shape_of(c);
    const Tensor* bias = c.inputs() == 3 ? &c.input(2) : nullptr;
    if (bias && bias->shape() != Shape({shape.out}))
      c.fail("a bias with one value per channel, " + std::to_string(shape.out), bias->describe());
    Tensor& output = c.allocate_output(0, c.input(0).dtype(), shape.outputs());
    backend(c, shape).forward(shape, c.input(0), c.input(1), bias, relu_, output, c);
  }

 private:
  bool relu_;
};

class BackpropInputKernel final : public Conv {
 public:
  explicit BackpropInputKernel(const Node& node) : Conv(node) {}

  void compute(OpContext& c) const override {
    const ConvShape shape = shape_with_gradient(c);
    Tensor& gradient = c.allocate_output(0, c.input(0).dtype(), shape.images());
    backend(c, shape).backprop_input(shape, c.input(1), c.input(2), gradient, c);
  }
};

class BackpropFilterKernel final : public Conv {
 public:
  explicit BackpropFilterKernel(const Node& node) : Conv(node), bias_(node.outputs.size() == 2) {}

  void compute(OpContext& c) const override {
    const ConvShape shape = shape_with_gradient(c);
    Tensor& gradient = c.allocate_output(0, c.input(0).dtype(), shape.filter());
    Tensor* bias = bias_ ? &c.allocate_output(1, c.input(0).dtype(), {shape.out}) : nullptr;
    backend(c, shape).backprop_filter(shape, c.input(0), c.input(2), gradient, bias, c);
  }

 private:
  bool bias_;
};

template <class K>
std::unique_ptr<Kernel> make(const Node& node) {
  return std::make_unique<K>(node);
}

template <class K>
Op with_kernel(const OpDef& def) {
#ifdef ACTORFLOW_CUDA
  return {&def, make<K>, make<K>};
#else
  return {&def, make<K>, nullptr};
#endif
}

}  // namespace

Output conv2d(Output images, Output filter, Extent strides, Padding padding) {
  return add_node(conv2d_op(), {images, filter}, sliding_values(strides, padding));
}

Output fused_conv2d(Output images, Output filter, Output bias, bool relu, Extent strides,
                    Padding padding) {
  Attrs attrs = sliding_values(strides, padding);
  attrs["relu"] = relu;
  return add_node(fused_conv2d_op(), {images, filter, bias}, attrs);
}

std::vector<Op> conv_ops() {
  return {with_kernel<ForwardKernel>(conv2d_op()), with_kernel<ForwardKernel>(fused_conv2d_op()),
          with_kernel<BackpropInputKernel>(backprop_input_op()),
          with_kernel<BackpropFilterKernel>(backprop_filter_op()),
          with_kernel<BackpropFilterKernel>(fused_backprop_filter_op())};
}

}  // namespace actorflow

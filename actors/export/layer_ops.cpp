// Ops that layers are made of: products, convolution, pooling, normalisation, softmax.
#include <fmt/format.h>

#include <cmath>

#include "actors/export/onnx_context.h"
#include "kernels/attention/causal_mask.h"

namespace actorflow {
namespace {

using Ints = std::vector<std::int64_t>;

// a b, plus a third input if there is one, of matrices that may be given transposed.
std::string matmul(OnnxContext& c) {
  const bool transpose_a = c.attr<bool>("transpose_a"), transpose_b = c.attr<bool>("transpose_b");
  if (!transpose_a && !transpose_b && c.inputs() == 2) return c.add("MatMul", c.input_names());
  return c.add("Gemm", c.input_names(),
               {{"transA", onnx_bool(transpose_a)}, {"transB", onnx_bool(transpose_b)}});
}

std::string fused_matmul(OnnxContext& c) {
  const auto product = matmul(c);
  return c.attr<bool>("relu") ? c.add("Relu", {product}) : product;
}

// An input with its last two dimensions exchanged if the attribute says so.
std::string maybe_transposed(OnnxContext& c, int input, std::string_view attr) {
  if (!c.attr<bool>(attr)) return c.input(input);
  Ints perm;
  for (int axis = 0; axis < c.rank(input); ++axis) perm.push_back(axis);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return c.add("Transpose", {c.input(input)}, {{"perm", perm}});
}

std::string batch_matmul(OnnxContext& c) {
  return c.add("MatMul", {maybe_transposed(c, 0, "transpose_a"), maybe_transposed(c, 1, "transpose_b")});
}

std::string bias_add(OnnxContext& c) { return c.add("Add", c.input_names()); }

// SAME_UPPER puts the odd element of padding behind, as our SAME does.
OnnxAttrs sliding(const OnnxContext& c) {
  const Ints& strides = c.attr<Ints>("strides");  // 1, rows, columns, 1
  const bool same = c.attr<std::string>("padding") == "SAME";
  return {{"auto_pad", std::string(same ? "SAME_UPPER" : "VALID")},
          {"strides", Ints{strides[1], strides[2]}}};
}

// The filter [height, width, in, out] is [out, in, height, width] in ONNX.
std::string convolution(OnnxContext& c) {
  if (c.dtype() != DType::float32) c.refuse("runtimes convolve float32 only; cast the images");
  std::vector<std::string> inputs = c.input_names();
  inputs[0] = c.builder().channels_first(inputs[0]);
  inputs[1] = c.add("Transpose", {inputs[1]}, {{"perm", Ints{3, 2, 0, 1}}});
  OnnxAttrs attrs = sliding(c);
  const Shape& filter = c.shape(1);
  if (filter.fully_known()) attrs["kernel_shape"] = Ints{filter[0], filter[1]};
  return c.add("Conv", inputs, std::move(attrs));
}

std::string conv2d(OnnxContext& c) { return c.builder().channels_last(convolution(c)); }

std::string fused_conv2d(OnnxContext& c) {
  const auto images = convolution(c);
  return c.builder().channels_last(c.attr<bool>("relu") ? c.add("Relu", {images}) : images);
}

std::string pool(OnnxContext& c, std::string_view op) {
  if (c.dtype() != DType::float32) c.refuse("runtimes pool float32 only; cast the images");
  OnnxAttrs attrs = sliding(c);
  const Ints& windows = c.attr<Ints>("ksize");
  attrs["kernel_shape"] = Ints{windows[1], windows[2]};
  return c.builder().channels_last(
      c.add(op, {c.builder().channels_first(c.input(0))}, std::move(attrs)));
}

std::string max_pool(OnnxContext& c) { return pool(c, "MaxPool"); }
std::string avg_pool(OnnxContext& c) { return pool(c, "AveragePool"); }

std::string layer_norm(OnnxContext& c) {
  return c.add("LayerNormalization", c.input_names(),
               {{"axis", std::int64_t{-1}}, {"epsilon", c.attr<double>("epsilon")}});
}

std::string softmax(OnnxContext& c) {
  return c.add("Softmax", {c.input(0)}, {{"axis", std::int64_t{-1}}});
}

std::string log_softmax(OnnxContext& c) {
  return c.add("LogSoftmax", {c.input(0)}, {{"axis", std::int64_t{-1}}});
}

// Attention's tensors are [batch, length, heads, width]; ONNX multiplies the last two axes.
std::string transposed(OnnxContext& c, const std::string& x, const Ints& perm) {
  return c.add("Transpose", {x}, {{"perm", perm}});
}

std::string mask_of_attention(OnnxContext& c) {
  const std::int64_t queries = c.shape(0)[1], keys = c.shape(1)[1];
  if (queries < 0 || keys < 0) c.refuse("causal attention is exported for known lengths only");
  const std::string name = c.builder().constant(fmt::format("mask[{},{}]", queries, keys), "mask",
                                                causal_mask(queries, keys));
  if (c.dtype() == DType::float32) return name;
  return c.add("Cast", {name}, {{"to", std::int64_t{onnx_type(c.dtype())}}});
}

std::string attention(OnnxContext& c) {
  const auto width = static_cast<double>(c.shape(0)[3]);
  if (!(width > 0)) c.refuse("attention is exported for a known width of the heads only");
  const auto query =
      c.add("Mul", {transposed(c, c.input(0), {0, 2, 1, 3}), c.scalar(1 / std::sqrt(width))});
  auto scores = c.add("MatMul", {query, transposed(c, c.input(1), {0, 2, 3, 1})});
  if (c.attr<bool>("causal")) scores = c.add("Add", {scores, mask_of_attention(c)});
  const auto weights = c.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  return transposed(c, c.add("MatMul", {weights, transposed(c, c.input(2), {0, 2, 1, 3})}),
                    {0, 2, 1, 3});
}

std::string batch_norm(OnnxContext& c) {
  c.refuse(
      "it normalises by the batch, which is for training; export the model built for inference, "
      "with batch_norm_inference()");
}

std::string dropout(OnnxContext& c) {
  c.refuse("dropout is for training; export the model built without it");
}

}  // namespace

OnnxTranslations onnx_layer_translations() {
  return {
      {"MatMul", matmul},
      {"FusedMatMul", fused_matmul},
      {"BatchMatMul", batch_matmul},
      {"BiasAdd", bias_add},
      {"Conv2D", conv2d},
      {"FusedConv2D", fused_conv2d},
      {"MaxPool", max_pool},
      {"AvgPool", avg_pool},
      {"LayerNorm", layer_norm},
      {"Softmax", softmax},
      {"LogSoftmax", log_softmax},
      {"DotProductAttention", attention},
      {"FusedBatchNorm", batch_norm},
      {"Dropout", dropout},
  };
}

}  // namespace actorflow

// Ops that ONNX has, each as an output by its name.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "kernels/ops.h"

namespace actorflow::test {

inline Tensor random_tensor(const Shape& shape, double low = -2, double high = 2) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> distribution(static_cast<float>(low), static_cast<float>(high));
  Tensor tensor = Tensor::allocate(DType::float32, shape);
  for (float& value : tensor.mutable_values<float>()) value = distribution(random);
  return tensor;
}

// All of these of one float32 input [?,3,4].
inline std::map<std::string, Output> elementwise_outputs(Output x) {
  const Output positive = abs(x) + 0.1, y = x * 0.5 + 0.25, integers = cast(x * 10, DType::int32);
  return {{"neg", -x},
          {"sign", sign(x)},
          {"square", square(x)},
          {"exp", exp(x)},
          {"log", log(positive)},
          {"sqrt", sqrt(positive)},
          {"rsqrt", rsqrt(positive)},
          {"tanh", tanh(x)},
          {"sigmoid", sigmoid(x)},
          {"relu", relu(x)},
          {"gelu", gelu(x)},
          {"approximate_gelu", gelu(x, true)},
          {"sub", x - y},
          {"div", x / positive},
          {"integer_div", integers / 3},
          {"max", maximum(x, y)},
          {"min", minimum(x, y)},
          {"pow", pow(positive, y)},
          {"equal", equal(integers, integers * 2)},
          {"not_equal", not_equal(integers, integers * 2)},
          {"less", less(x, y)},
          {"less_equal", less_equal(x, y)},
          {"greater", greater(x, y)},
          {"greater_equal", greater_equal(integers, integers)},
          {"and", logical_and(less(x, y), greater(x, -y))},
          {"or", logical_or(less(x, y), greater(x, -y))},
          {"not", logical_not(less(x, y))},
          {"select", select(less(x, y), x, y)},
          {"int64", cast(x * 100, DType::int64)},
          {"float64", cast(x, DType::float64)},
          {"bool", cast(integers, DType::boolean)},
          {"identity", identity(x)}};
}

inline std::map<std::string, Output> shape_outputs(Output x) {
  Graph& graph = *x.graph;
  const Output indices = graph.constant(Tensor::of<std::int64_t>({2, 2}, {1, 0, 2, 2}));
  return {{"sum", sum(x)},
          {"sum_rows", sum(x, {-1}, true)},
          {"mean", mean(x, {1})},
          {"max", max(x, {0, 2})},
          {"min", min(x, {2}, true)},
          {"argmax", argmax(x, 2)},
          {"shape", shape_of(x)},
          {"reshape", reshape(x, {-1, 6})},
          {"expand_dims", expand_dims(x, {0, 2})},
          {"transpose", transpose(x, {2, 0, 1})},
          {"reversed", transpose(x)},
          {"slice", slice(x, {0, 1, 2}, {-1, 2, 1})},
          {"concat", concat({x, x * 2}, 1)},
          {"pad", pad(x, {0, 1, 2}, {1, 0, 0})},
          {"gather", gather(x, indices, 1)},
          {"zeros", zeros_like(x)},
          {"ones", ones_like(x)},
          {"broadcast", broadcast_like(graph.constant(Tensor::of<float>({4}, {1, 2, 3, 4})), x)},
          {"fill", x + fill(graph, {3, 4}, 1.5)}};
}

inline std::map<std::string, Output> layer_outputs(Output x) {
  Graph& graph = *x.graph;
  const Output rows = reshape(x, {-1, 12});
  const Output w = graph.constant(random_tensor({12, 5})), wt = graph.constant(random_tensor({5, 12}));
  const Output batch = graph.constant(random_tensor({4, 4})), ones = graph.constant(random_tensor({4}));
  const Output images = reshape(x, {-1, 2, 3, 2});
  const Output filter = graph.constant(random_tensor({2, 2, 2, 3}));
  const Output bias = graph.constant(random_tensor({3}));
  const Output convolved = fused_conv2d(images, filter, bias, true);
  const Output heads = reshape(x, {-1, 3, 2, 2});
  return {{"matmul", matmul(rows, w)},
          {"matmul_transposed", matmul(rows, wt, false, true)},
          {"both_transposed", matmul(transpose(rows), wt, true, true)},
          {"bias_add", bias_add(matmul(rows, w), graph.constant(random_tensor({5})))},
          {"batch_matmul", batch_matmul(x, batch, false, true)},
          {"conv_same", conv2d(images, filter, {2, 1})},
          {"conv_valid", conv2d(images, filter, 1, Padding::valid)},
          {"fused_conv", convolved},
          {"residual", relu(conv2d(images, filter) + convolved)},
          {"max_pool", max_pool(images, {2, 2}, {1, 2})},
          {"avg_pool", avg_pool(images, 2, 2)},
          {"avg_pool_valid", avg_pool(images, 2, 1, Padding::valid)},
          {"batch_norm", batch_norm_inference(x, ones, ones, ones, abs(ones))},
          {"layer_norm", layer_norm(x, ones, ones)},
          {"attention", dot_product_attention(heads, heads * 0.5, heads)},
          {"causal_attention", dot_product_attention(heads, heads, heads, true)},
          {"softmax", softmax(x)},
          {"log_softmax", log_softmax(x)}};
}

}  // namespace actorflow::test

// The functions that programs compute with: each adds a node to the graph of its arguments and returns
// its output. Mistakes in types and shapes throw invalid_argument at once, naming the node.
//
// Elementwise functions of two tensors take the same dtype on both sides and broadcast by NumPy's rules.
// Unless stated otherwise they have gradients. Not thread-safe, as the graph is not.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

// scalar.cpp: a constant scalar of the dtype of `like`. Throws invalid_argument if that dtype cannot
// hold the value: int32 cannot hold 0.5, bool and string no number.
Output scalar_like(Output like, double value);
Output scalar_like(Output like, std::int64_t value);

template <Arithmetic T>
Output scalar_like(Output like, T value) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  return scalar_like(like, static_cast<Wide>(value));
}

// binary.cu: floating types, int32, int64; of 16 bits computed in float32 and rounded. Integers wrap
// around; their quotient is rounded towards 0, and a division by 0 fails on a CPU and gives 0 on a GPU.
Output add(Output a, Output b);
Output subtract(Output a, Output b);
Output multiply(Output a, Output b);
Output divide(Output a, Output b);
// The larger, the smaller of the two; NaN if one of them is. Where both are equal, the gradient goes to
// `a`.
Output maximum(Output a, Output b);
Output minimum(Output a, Output b);
Output pow(Output base, Output exponent);  // float32, float64

inline Output operator+(Output a, Output b) { return add(a, b); }
inline Output operator-(Output a, Output b) { return subtract(a, b); }
inline Output operator*(Output a, Output b) { return multiply(a, b); }
inline Output operator/(Output a, Output b) { return divide(a, b); }

// A number becomes a constant of the other side's dtype.
Output operator+(Output a, Arithmetic auto b) { return add(a, scalar_like(a, b)); }
Output operator-(Output a, Arithmetic auto b) { return subtract(a, scalar_like(a, b)); }
Output operator*(Output a, Arithmetic auto b) { return multiply(a, scalar_like(a, b)); }
Output operator/(Output a, Arithmetic auto b) { return divide(a, scalar_like(a, b)); }
Output operator+(Arithmetic auto a, Output b) { return add(scalar_like(b, a), b); }
Output operator-(Arithmetic auto a, Output b) { return subtract(scalar_like(b, a), b); }
Output operator*(Arithmetic auto a, Output b) { return multiply(scalar_like(b, a), b); }
Output operator/(Arithmetic auto a, Output b) { return divide(scalar_like(b, a), b); }

// x += y is x = x + y: the handle refers to a new tensor, the old one stays as it was.
template <class T>
Output& operator+=(Output& x, const T& y) {
  return x = x + y;
}
template <class T>
Output& operator-=(Output& x, const T& y) {
  return x = x - y;
}
template <class T>
Output& operator*=(Output& x, const T& y) {
  return x = x * y;
}
template <class T>
Output& operator/=(Output& x, const T& y) {
  return x = x / y;
}

// unary.cu: floating; the first four also take int32 and int64.
Output negative(Output x);
Output abs(Output x);
Output sign(Output x);  // -1, 0, 1 or NaN; its gradient is 0
Output square(Output x);
Output exp(Output x);
Output log(Output x);
Output sqrt(Output x);
Output rsqrt(Output x);  // 1 / sqrt(x)
Output tanh(Output x);
Output sigmoid(Output x);
Output relu(Output x);  // NaN stays NaN
// g where y > 0, else 0: the gradient of x, for y = relu(x) and the gradient g of y.
Output relu_grad(Output g, Output y);

inline Output operator-(Output x) { return negative(x); }

// compare.cu: results are bool; without gradients. Any dtype but string; bool has no order.
Output equal(Output a, Output b);
Output not_equal(Output a, Output b);
Output less(Output a, Output b);
Output less_equal(Output a, Output b);
Output greater(Output a, Output b);
Output greater_equal(Output a, Output b);
Output logical_and(Output a, Output b);  // of bool
Output logical_or(Output a, Output b);
Output logical_not(Output x);
// a where the bool `condition` holds, else b. Broadcasts all three.
Output select(Output condition, Output a, Output b);
inline Output where(Output condition, Output a, Output b) { return select(condition, a, b); }

// A comparison of tensors. Only a step knows its value, so `if (a < b)` does not compile: use select().
struct Condition : Output {
  explicit operator bool() const = delete;
};

inline Condition operator==(Output a, Output b) { return {equal(a, b)}; }
inline Condition operator!=(Output a, Output b) { return {not_equal(a, b)}; }
inline Condition operator<(Output a, Output b) { return {less(a, b)}; }
inline Condition operator<=(Output a, Output b) { return {less_equal(a, b)}; }
inline Condition operator>(Output a, Output b) { return {greater(a, b)}; }
inline Condition operator>=(Output a, Output b) { return {greater_equal(a, b)}; }
Condition operator==(Output a, Arithmetic auto b) { return a == scalar_like(a, b); }
Condition operator!=(Output a, Arithmetic auto b) { return a != scalar_like(a, b); }
Condition operator<(Output a, Arithmetic auto b) { return a < scalar_like(a, b); }
Condition operator<=(Output a, Arithmetic auto b) { return a <= scalar_like(a, b); }
Condition operator>(Output a, Arithmetic auto b) { return a > scalar_like(a, b); }
Condition operator>=(Output a, Arithmetic auto b) { return a >= scalar_like(a, b); }
Condition operator<(Arithmetic auto a, Output b) { return scalar_like(b, a) < b; }
Condition operator<=(Arithmetic auto a, Output b) { return scalar_like(b, a) <= b; }
Condition operator>(Arithmetic auto a, Output b) { return scalar_like(b, a) > b; }
Condition operator>=(Arithmetic auto a, Output b) { return scalar_like(b, a) >= b; }

// cast.cu: between all dtypes but string. Towards integers it truncates and saturates, and NaN becomes
// 0. Returns x itself if it has that dtype.
Output cast(Output x, DType dtype);

// reduce.cu: over `axes`, where -1 is the last; over all of them if none is given. Reduced dimensions
// vanish, or become 1 with keep_dims. float32 is summed up in float64.
Output sum(Output x, const std::vector<std::int64_t>& axes = {}, bool keep_dims = false);
Output mean(Output x, const std::vector<std::int64_t>& axes = {}, bool keep_dims = false);  // floating
// The extremes of the elements. NaN if one element is; equal extremes share the gradient. Without
// elements the result is -infinity (max), infinity (min), or the bound of the integer type.
Output max(Output x, const std::vector<std::int64_t>& axes = {}, bool keep_dims = false);
Output min(Output x, const std::vector<std::int64_t>& axes = {}, bool keep_dims = false);
// int64: the index of the first largest element along the axis; NaN counts as the largest. No gradient.
Output argmax(Output x, std::int64_t axis);

// broadcast_ops.cu. x summed to the shape of `like`, which broadcasts to that of x: the inverse of
// broadcasting.
Output sum_like(Output x, Output like);
Output mean_like(Output x, Output like);  // the mean instead; floating
// x repeated to the shape of `like`, to which it broadcasts.
Output broadcast_like(Output x, Output like);
Output spread_like(Output x, Output like);  // each element shared equally among its copies; floating
Output zeros_like(Output x);
Output ones_like(Output x);
// A tensor of one value.
Output fill(Graph& graph, const Shape& shape, double value, DType dtype = DType::float32);

// core.cu
Output identity(Output x);

// shape_ops.cu: any dtype.
// One dimension of the shape may be -1: it follows from the number of elements.
Output reshape(Output x, const Shape& shape);
// Inserts dimensions of 1 at these positions of the result.
Output expand_dims(Output x, const std::vector<std::int64_t>& axes);
// Dimension i of the result is dimension permutation[i] of x; none reverses the dimensions.
Output transpose(Output x, const std::vector<std::int64_t>& permutation = {});
// int64 [rank]: the dimensions of x. No gradient.
Output shape_of(Output x);

// slice.cu: any dtype. The part of x from `begin` on; a size of -1 extends to the end of the axis.
// Throws invalid_argument if the slice leaves the tensor.
Output slice(Output x, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& size);
// concat.cu: any dtype. The parts, which differ along the axis only, one after the other; a negative
// axis counts from the last.
Output concat(const std::vector<Output>& parts, std::int64_t axis);
// slice.cu. Zeros around x: before[i] and after[i] of them along axis i. Not for strings.
Output pad(Output x, const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after);

// random.cu: float32 or float64; no gradients. The result depends on nothing but the arguments, bit for
// bit and on every device: seed and the int64 scalar `counter` choose the stream, position by position.
// Without a counter every step gives the same values; feed the global step to get new ones.
Output random_uniform(Graph& graph, const Shape& shape, double low, double high, std::uint64_t seed,
                      DType dtype = DType::float32, Output counter = {});  // [low, high)
Output random_normal(Graph& graph, const Shape& shape, double mean, double stddev, std::uint64_t seed,
                     DType dtype = DType::float32, Output counter = {});
// Normally distributed, within two standard deviations of the mean.
Output truncated_normal(Graph& graph, const Shape& shape, double mean, double stddev, std::uint64_t seed,
                        DType dtype = DType::float32, Output counter = {});

// matmul.cu: [m,k] x [k,n] -> [m,n], floating; each side may be given transposed.
Output matmul(Output a, Output b, bool transpose_a = false, bool transpose_b = false);

// batch_matmul.cu: the same for [..., m,k] x [..., k,n], whose leading dimensions broadcast.
Output batch_matmul(Output a, Output b, bool transpose_a = false, bool transpose_b = false);

// bias.cu: x [..., n] + bias [n], floating.
Output bias_add(Output x, Output bias);

// Images below are [batch, height, width, channels], floating. Windows slide over them by `strides`.
// `same` pads so that there are ceil(size / stride) windows along an axis, half of the padding in front,
// the rest behind (TensorFlow's SAME); `valid` takes the windows that fit.
enum class Padding : std::uint8_t { same, valid };
struct Extent {
  std::int64_t height, width;
  Extent(std::int64_t both) : height(both), width(both) {}  // NOLINT: a number is a square
  Extent(std::int64_t height_, std::int64_t width_) : height(height_), width(width_) {}
};

// conv.cu: with a filter [height, width, in, out] -> [batch, ., ., out]; padding counts as zeros.
Output conv2d(Output images, Output filter, Extent strides = 1, Padding padding = Padding::same);
// conv2d plus a bias [out], and the relu of that if wanted, in one pass. NaN stays NaN.
Output fused_conv2d(Output images, Output filter, Output bias, bool relu = false, Extent strides = 1,
                    Padding padding = Padding::same);

// pooling.cu: the maximum or mean over each channel of a window, without the padding. A maximum is NaN
// if one element is; its gradient goes to the first of equal maxima; max_pool has no second derivative.
Output max_pool(Output images, Extent windows, Extent strides, Padding padding = Padding::same);
Output avg_pool(Output images, Extent windows, Extent strides, Padding padding = Padding::same);

// batch_norm.cu: x [..., channels], one value per channel of scale, offset, mean and variance. y = (x -
// mean) / sqrt(biased variance + epsilon) scale + offset (+ side, of the shape of x), and the relu of
// that if wanted; with the batch's own statistics, which are returned too. For second derivatives, or
// other statistics, use batch_norm_inference.
struct BatchNorm {
  Output y;
  Output mean, variance;  // variance: unbiased, as moving averages take it
};
BatchNorm batch_norm(Output x, Output scale, Output offset, double epsilon = 1e-3, bool relu = false,
                     Output side = {});
Output batch_norm_inference(Output x, Output scale, Output offset, Output mean, Output variance,
                            double epsilon = 1e-3);

// gelu.cu: x Phi(x) with the normal distribution function Phi, or its approximation by tanh. Floating;
// no second derivative.
Output gelu(Output x, bool approximate = false);

// layer_norm.cu: (x - mean) / sqrt(variance + epsilon) gamma [n] + beta [n], by the mean and biased
// variance of each row of the last axis, n long. Floating; no second derivative.
Output layer_norm(Output x, Output gamma, Output beta, double epsilon = 0.001);

// dropout.cu: each element becomes 0 with the probability `rate`, 0 <= rate < 1, else x / (1 - rate).
// Floating. Seed and the int64 scalar `counter` choose the elements, the same on every device: use a
// different seed for each dropout of a model, and feed the global step as counter.
Output dropout(Output x, double rate, std::uint64_t seed, Output counter);

// gather.cu and scatter.cu: indices and ids are int32 or int64 of any shape. One out of range fails when
// it runs on a CPU, naming index and place; on a GPU it reads 0 and writes nothing. The parts of x that
// the indices choose: x with its axis replaced by the dimensions of the indices.
Output gather(Output x, Output indices, std::int64_t axis = 0);
// embedding.cu: the rows of the table for these ids, gathered on the table's device, so that only they
// are sent. The gradient is row-sparse (indexed_slices() in dataflow/graph/gradient.h); the rows of a
// repeated id are summed. For partitioned tables: kernels/ops/embedding.h.
Output embedding_lookup(Output table, Output ids);
// x with the parts that the indices choose along the axis changed: the updates, of the shape of
// gather(x, indices, axis), are added to them, or replace them, in the order of the indices. Of several
// replacements of one part the last one counts, but the gradient flows to all.
Output scatter_add(Output x, Output indices, Output updates, std::int64_t axis = 0);
Output scatter_update(Output x, Output indices, Output updates, std::int64_t axis = 0);
// [num_segments, ...]: the sums of the parts of `data` with the same id. The ids' dimensions are the
// leading ones of the data.
Output unsorted_segment_sum(Output data, Output segment_ids, std::int64_t num_segments);

// arrays.cpp: part `index` of x along an axis, which vanishes; -1 is the last part where the axis has a
// known length. x[i] is element(x, i). More functions on arrays: kernels/ops/arrays.h.
Output element(Output x, std::int64_t index, std::int64_t axis = 0);

// softmax.cu: over the last axis, floating.
Output softmax(Output x);
Output log_softmax(Output x);

// The most that the width of a head may be where a GPU computes dot_product_attention().
inline constexpr std::int64_t widest_attention_on_gpu = 128;
// attention.cu: softmax(query key^T / sqrt(width)) value for each head, of query [batch, queries, heads,
// width] and of key and value [batch, keys, heads, width], float32 or float64; the result has the
// query's shape. With `causal` query i looks at the keys 0 to i only. The weights are never whole in
// memory. On a GPU factors of float32 are rounded to tf32 unless the graph's precision is float32. Fails
// when it runs if there are queries but no keys, and on a GPU for wider heads or where it has too little
// shared memory. Its gradient has none. Vaswani et al., Attention Is All You Need (2017).
Output dot_product_attention(Output query, Output key, Output value, bool causal = false);

// histogram.cu: the distribution of the elements of x, for summaries. No gradient. histogram.h names the
// statistics and gives the limits of the buckets. Elements that are not finite are counted separately.
struct Histogram {
  Output statistics;  // float64 [6]
  Output counts;      // int64 [1551]
};
Histogram histogram(Output x);

// cross_entropy.cu: the loss [batch] of logits [batch, classes] against the class numbers [batch], int32
// or int64. A label outside [0, classes) fails when it runs.
Output softmax_cross_entropy(Output logits, Output labels);

}  // namespace actorflow

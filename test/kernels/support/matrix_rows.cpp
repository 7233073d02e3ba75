#include "test/kernels/support/matrix_rows.h"

#include <cmath>
#include <string>
#include <utility>

#include "test/kernels/support/reference.h"

namespace actorflow::test {
namespace {

Reference matmul(bool transpose_a, bool transpose_b) {
  return [=](const Arrays& in) {
    const Shape &a = in[0].shape, &b = in[1].shape;
    return Arrays{array_of({a[transpose_a ? 1 : 0], b[transpose_b ? 0 : 1]}, [&](const Index& i) {
      double sum = 0;
      for (std::int64_t k = 0; k < a[transpose_a ? 0 : 1]; ++k)
        sum += at(in[0], transpose_a ? Index{k, i[0]} : Index{i[0], k}) *
               at(in[1], transpose_b ? Index{i[1], k} : Index{k, i[1]});
      return sum;
    })};
  };
}

// log(sum of exp) of the row that an index falls in.
double log_sum_exp(const Array& x, Index i) {
  double sum = 0;
  for (i.back() = 0; i.back() < x.shape[x.shape.rank() - 1]; ++i.back()) sum += std::exp(at(x, i));
  return std::log(sum);
}

Arrays log_softmax(const Arrays& in) {
  return {array_of(in[0].shape, [&](const Index& i) { return at(in[0], i) - log_sum_exp(in[0], i); })};
}

Arrays softmax(const Arrays& in) {
  Arrays result = log_softmax(in);
  for (double& value : result[0].values) value = std::exp(value);
  return result;
}

// What a row's element of `terms` sums up to.
double row_sum(const Array& terms, Index i) {
  double sum = 0;
  for (i.back() = 0; i.back() < terms.shape[terms.shape.rank() - 1]; ++i.back()) sum += at(terms, i);
  return sum;
}

// Of an output and its gradient, any numbers here.
Arrays softmax_grad(const Arrays& in) {
  const Array &y = in[0], &g = in[1];
  const Array products = array_of(y.shape, [&](const Index& i) { return at(y, i) * at(g, i); });
  return {
      array_of(y.shape, [&](const Index& i) { return (at(g, i) - row_sum(products, i)) * at(y, i); })};
}

Arrays log_softmax_grad(const Arrays& in) {
  const Array &y = in[0], &g = in[1];
  return {
      array_of(y.shape, [&](const Index& i) { return at(g, i) - std::exp(at(y, i)) * row_sum(g, i); })};
}

Arrays cross_entropy(const Arrays& in) {
  const Array probabilities = softmax(in)[0], logs = log_softmax(in)[0];
  const auto label = [&](const Index& i) { return static_cast<std::int64_t>(in[1][i[0]]); };
  return {array_of(in[1].shape,
                   [&](const Index& i) {
                     return -at(logs, {i[0], label(i)});
                   }),
          array_of(in[0].shape,
                   [&](const Index& i) { return at(probabilities, i) - (i[1] == label(i) ? 1 : 0); })};
}

// The mean loss, and its gradient by the logits where in[2] is the mean's.
Arrays mean_cross_entropy(const Arrays& in) {
  Arrays result = cross_entropy(in);
  const double rows = static_cast<double>(result[0].values.size());
  result[0] = {{}, {mean_of(result[0].values)}};
  for (double& value : result[1].values) value *= in[2][0] / rows;
  return result;
}

// in[2] is the bias.
Reference fused_matmul(bool transpose_a, bool transpose_b, double (*activation)(double)) {
  return [=](const Arrays& in) {
    const Array product = matmul(transpose_a, transpose_b)(in)[0];
    return Arrays{array_of(product.shape,
                           [&](const Index& i) { return activation(at(product, i) + in[2][i[1]]); })};
  };
}

// For rows [40,70]: the gradient before the relu, and the sums of its columns.
Arrays relu_bias_grad(const Arrays& in) {
  const Array before = binary(relu_grad)(in)[0];
  return {before, reduction({1, 70}, {70}, sum_of)({before})[0]};
}

Attrs precise(std::string precision) { return {{"precision", std::move(precision)}}; }

Attrs fused(bool transpose_a, bool transpose_b, bool relu) {
  return {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"relu", relu}};
}

}  // namespace

std::vector<OpRow> matrix_rows() {
  const Input logits{f32, {6, 5}, -3, 3};
  // Large enough for a CPU with AMX to round the factors.
  const Input left{f32, {20, 32}, -1, 1}, right{f32, {32, 30}, -1, 1};
  return {
      {"MatMul", "", {{f32, {4, 7}}, {f32, {7, 3}}}, {}, matmul(false, false)},
      {"MatMul",
       "a transposed",
       {{f32, {7, 4}}, {f32, {7, 3}}},
       transposed(true, false),
       matmul(true, false)},
      {"MatMul",
       "b transposed",
       {{f32, {4, 7}}, {f32, {3, 7}}},
       transposed(false, true),
       matmul(false, true)},
      {"MatMul",
       "both transposed",
       {{f32, {7, 4}}, {f32, {3, 7}}},
       transposed(true, true),
       matmul(true, true)},
      {"MatMul", "tf32", {left, right}, precise("tf32"), matmul(false, false), 0.01},
      {"MatMul", "bf16", {left, right}, precise("bf16"), matmul(false, false), 0.03},
      {"MatMul", "of nothing", {{f32, {2, 0}}, {f32, {0, 3}}}, {}, matmul(false, false)},
      {"BiasAdd", "", {{f32, {6, 5}}, {f32, {5}}}, {}, binary(add)},
      {"BiasAdd", "three axes", {{f32, {2, 3, 4}}, {f32, {4}}}, {}, binary(add)},
      {"BiasAdd", "many columns", {{f32, {7, 36}}, {f32, {36}}}, {}, binary(add)},
      {"BiasAddGrad", "", {{f32, {40, 70}}}, {}, reduction({1, 70}, {70}, sum_of)},
      {"BiasAddGrad", "in packs", {{f32, {96, 8}}}, {}, reduction({1, 8}, {8}, sum_of)},
      {"BiasAddGrad", "three axes", {{f32, {2, 3, 4}}}, {}, reduction({1, 1, 4}, {4}, sum_of)},
      {"Softmax", "", {logits}, {}, softmax},
      {"Softmax", "wide rows", {{f32, {2, 2, 70}}}, {}, softmax},
      {"Softmax", "wider rows", {{f32, {3, 150}}}, {}, softmax},
      {"Softmax", "rows of 1000", {{f32, {3, 1000}}}, {}, softmax},
      {"LogSoftmax", "", {logits}, {}, log_softmax, 2e-6},
      {"SoftmaxGrad", "", {logits, logits}, {}, softmax_grad, 4e-6},
      {"SoftmaxGrad", "wide rows", {{f32, {2, 2, 70}}, {f32, {2, 2, 70}}}, {}, softmax_grad, 4e-6},
      {"SoftmaxGrad", "in fours", {{f32, {3, 64}}, {f32, {3, 64}}}, {}, softmax_grad, 4e-6},
      {"SoftmaxGrad", "rows of 1030", {{f32, {2, 1030}}, {f32, {2, 1030}}}, {}, softmax_grad, 1e-5},
      {"LogSoftmaxGrad", "", {logits, logits}, {}, log_softmax_grad, 4e-6},
      {"LogSoftmaxGrad", "in fours", {{f32, {3, 64}}, {f32, {3, 64}}}, {}, log_softmax_grad, 4e-6},
      {"LogSoftmaxGrad",
       "rows of 1030",
       {{f32, {2, 1030}}, {f32, {2, 1030}}},
       {},
       log_softmax_grad,
       1e-5},
      {"SparseSoftmaxCrossEntropy", "", {logits, {i32, {6}, 0, 5}}, {}, cross_entropy, 2e-6},
      {"SparseSoftmaxCrossEntropy", "int64 labels", {logits, {i64, {6}, 0, 5}}, {}, cross_entropy, 2e-6},
  };
}

std::vector<OpRow> fused_rows() {
  const Input logits{f32, {6, 5}, -3, 3}, scalar{f32, {}}, bias{f32, {3}};
  return {
      {"FusedMatMul",
       "",
       {{f32, {4, 7}}, {f32, {7, 3}}, bias},
       fused(false, false, false),
       fused_matmul(false, false, same)},
      {"FusedMatMul",
       "relu",
       {{f32, {4, 7}}, {f32, {7, 3}}, bias},
       fused(false, false, true),
       fused_matmul(false, false, relu)},
      {"FusedMatMul",
       "both transposed",
       {{f32, {7, 4}}, {f32, {3, 7}}, bias},
       fused(true, true, true),
       fused_matmul(true, true, relu)},
      {"FusedMatMul",
       "wider",
       {{f32, {33, 48}, -1, 1}, {f32, {48, 68}, -1, 1}, {f32, {68}}},
       fused(false, false, false),
       fused_matmul(false, false, same),
       2e-6},
      {"FusedMatMul",
       "b transposed",
       {{f32, {5, 7}}, {f32, {4, 7}}, {f32, {4}}},
       fused(false, true, false),
       fused_matmul(false, true, same)},
      {"FusedMatMul",
       "of nothing",
       {{f32, {2, 0}}, {f32, {0, 3}}, bias},
       fused(false, false, true),
       fused_matmul(false, false, relu)},
      {"ReluBiasGrad", "", {{f32, {40, 70}}, {f32, {40, 70}}}, {}, relu_bias_grad},
      {"MeanSparseSoftmaxCrossEntropy",
       "",
       {logits, {i32, {6}, 0, 5}, scalar},
       {},
       mean_cross_entropy,
       2e-6},
      {"MeanSparseSoftmaxCrossEntropy",
       "wide rows",
       {{f32, {3, 40}, -3, 3}, {i64, {3}, 0, 40}, scalar},
       {},
       mean_cross_entropy,
       2e-6},
  };
}

}  // namespace actorflow::test

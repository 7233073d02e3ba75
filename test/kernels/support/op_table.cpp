#include "test/kernels/support/op_table.h"

#include <cmath>
#include <random>

#include "dataflow/graph/gradient.h"
#include "kernels/core/builtin_ops.h"
#include "test/kernels/support/array_rows.h"
#include "test/kernels/support/conv_rows.h"
#include "test/kernels/support/model_rows.h"
#include "test/kernels/support/reference.h"
#include "test/kernels/support/shape_rows.h"

namespace actorflow::test {
namespace {

constexpr DType boolean = DType::boolean, u8 = DType::uint8;

double neg(double x) { return -x; }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double square(double x) { return x * x; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double relu(double x) { return x > 0 ? x : 0; }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double tanh_grad(double g, double y) { return g * (1 - y * y); }
double sigmoid_grad(double g, double y) { return g * y * (1 - y); }
double relu_grad(double g, double y) { return y > 0 ? g : 0; }

double add(double a, double b) { return a + b; }
double sub(double a, double b) { return a - b; }
double mul(double a, double b) { return a * b; }
double div(double a, double b) { return a / b; }
double truncated_div(double a, double b) { return std::trunc(a / b); }
double larger(double a, double b) { return a > b ? a : b; }
double smaller(double a, double b) { return a < b ? a : b; }

double equal(double a, double b) { return a == b; }
double not_equal(double a, double b) { return a != b; }
double less(double a, double b) { return a < b; }
double less_equal(double a, double b) { return a <= b; }
double greater(double a, double b) { return a > b; }
double greater_equal(double a, double b) { return a >= b; }
double both(double a, double b) { return a != 0 && b != 0; }
double either(double a, double b) { return a != 0 || b != 0; }
double nonzero(double a) { return a != 0; }
double is_zero(double a) { return a == 0; }
double zero(double) { return 0; }
double one(double) { return 1; }

Arrays select(const Arrays& in) {
  const Shape shape = broadcast(in[0].shape, broadcast(in[1].shape, in[2].shape));
  return {
      array_of(shape, [&](const Index& i) { return at(in[0], i) != 0 ? at(in[1], i) : at(in[2], i); })};
}

Arrays sum_of_all(const Arrays& in) {
  return {array_of(in[0].shape, [&](const Index& i) {
    double sum = 0;
    for (const Array& array : in) sum += at(array, i);
    return sum;
  })};
}

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

Rows core_rows() {
  return {
      {"Const", "", {}, {{"value", Tensor::of<float>({2}, {1, -2})}}, always({{2}, {1, -2}})},
      {"Identity", "", {{f32, {2, 3}}}, {}, unary(same)},
      {"NoOp", "", {}, {}, [](const Arrays&) { return Arrays(); }},
      {"AddN", "", {{f32, {5, 7}}, {f32, {5, 7}}, {f32, {5, 7}}}, {}, sum_of_all},
      {"AddN", "one input", {{f32, {3}}}, {}, sum_of_all},
      {"AddN", "six inputs", std::vector<Input>(6, {f32, {3, 5}}), {}, sum_of_all},
      {"AddN", "seven inputs", std::vector<Input>(7, {f32, {3, 8}}), {}, sum_of_all},
      {"AddN", "integers", {{i64, {3}, -9, 9}, {i64, {3}, -9, 9}}, {}, sum_of_all},
  };
}

Rows unary_rows() {
  const Input x{f32, {3, 5}};
  return {
      {"Neg", "", {x}, {}, unary(neg)},
      {"Neg", "integers", {{i32, {7}, -9, 9}}, {}, unary(neg)},
      {"Abs", "", {x}, {}, unary(std::fabs)},
      {"Sign", "", {x}, {}, unary(sign)},
      {"Square", "", {x}, {}, unary(square)},
      {"Exp", "", {x}, {}, unary(std::exp)},
      {"Log", "", {{f32, {3, 5}, 0.1, 4}}, {}, unary(std::log)},
      {"Sqrt", "", {{f32, {3, 5}, 0.1, 4}}, {}, unary(std::sqrt)},
      {"Rsqrt", "", {{f32, {3, 5}, 0.1, 4}}, {}, unary(rsqrt)},
      {"Tanh", "", {x}, {}, unary(std::tanh)},
      {"Sigmoid", "", {x}, {}, unary(sigmoid)},
      {"Relu", "", {x}, {}, unary(relu)},
      {"TanhGrad", "", {x, {f32, {3, 5}, -1, 1}}, {}, binary(tanh_grad)},
      {"SigmoidGrad", "", {x, {f32, {3, 5}, 0, 1}}, {}, binary(sigmoid_grad)},
      {"ReluGrad", "", {x, x}, {}, binary(relu_grad)},
      {"LogicalNot", "", {{boolean, {7}, 0, 2}}, {}, unary(is_zero)},
  };
}

Rows binary_rows() {
  const Input matrix{f32, {3, 5}}, row{f32, {5}}, column{f32, {3, 1}}, scalar{f32, {}};
  const Input positive{f32, {3, 5}, 0.5, 2}, positive_row{f32, {5}, 0.5, 2};
  const Input integers{i32, {7}, -9, 9}, divisors{i32, {7}, 1, 4};
  return {
      {"Add", "", {matrix, matrix}, {}, binary(add)},
      {"Add", "a row to a matrix", {matrix, row}, {}, binary(add)},
      {"Add", "a matrix to a column", {column, matrix}, {}, binary(add)},
      {"Add", "a scalar to a matrix", {scalar, matrix}, {}, binary(add)},
      {"Add", "a row and a column", {row, column}, {}, binary(add)},
      {"Add", "nothing to nothing", {{f32, {0, 4}}, {f32, {4}}}, {}, binary(add)},
      {"Add", "four dimensions", {{f32, {2, 1, 3, 1}}, {f32, {4, 1, 5}}}, {}, binary(add)},
      {"Add", "integers", {integers, integers}, {}, binary(add)},
      {"Add", "a row of packs", {{f32, {2, 3, 8}}, {f32, {8}}}, {}, binary(add)},
      {"Add", "packs of both", {{f32, {2, 1, 8}}, {f32, {3, 8}}}, {}, binary(add)},
      {"Sub", "a column from packs", {{f32, {3, 8}}, {f32, {3, 1}}}, {}, binary(sub)},
      {"Mul", "a scalar by packs", {scalar, {f32, {3, 8}}}, {}, binary(mul)},
      {"Sub", "", {matrix, matrix}, {}, binary(sub)},
      {"Sub", "a row from a matrix", {matrix, row}, {}, binary(sub)},
      {"Mul", "", {matrix, matrix}, {}, binary(mul)},
      {"Mul", "a matrix by a scalar", {matrix, scalar}, {}, binary(mul)},
      {"Mul", "int64", {{i64, {4}, -9, 9}, {i64, {4}, -9, 9}}, {}, binary(mul)},
      {"Div", "", {matrix, positive}, {}, binary(div)},
      {"Div", "a column by a row", {column, positive_row}, {}, binary(div)},
      {"Div", "integers", {integers, divisors}, {}, binary(truncated_div)},
      {"Maximum", "", {matrix, matrix}, {}, binary(larger)},
      {"Maximum", "with a scalar", {matrix, scalar}, {}, binary(larger)},
      {"Minimum", "", {matrix, matrix}, {}, binary(smaller)},
      {"Pow", "", {positive, matrix}, {}, binary(std::pow), 2e-6},
      {"Pow", "of a scalar base", {{f32, {}, 0.5, 2}, row}, {}, binary(std::pow), 2e-6},
  };
}

Rows compare_rows() {
  const Input a{i32, {4, 6}, 0, 3}, row{i32, {6}, 0, 3}, x{f32, {9}}, flags{boolean, {4, 6}, 0, 2};
  const Input flags_row{boolean, {6}, 0, 2};
  return {
      {"Equal", "", {a, a}, {}, binary(equal)},
      {"Equal", "booleans", {flags, flags}, {}, binary(equal)},
      {"NotEqual", "with a row", {a, row}, {}, binary(not_equal)},
      {"Less", "", {a, a}, {}, binary(less)},
      {"Less", "floats", {x, x}, {}, binary(less)},
      {"LessEqual", "", {a, row}, {}, binary(less_equal)},
      {"Greater", "", {row, a}, {}, binary(greater)},
      {"GreaterEqual", "", {a, a}, {}, binary(greater_equal)},
      {"LogicalAnd", "", {flags, flags}, {}, binary(both)},
      {"LogicalOr", "with a row", {flags, flags_row}, {}, binary(either)},
      {"Select", "", {flags, {f32, {4, 6}}, {f32, {4, 6}}}, {}, select},
      {"Select", "with rows and scalars", {flags_row, {f32, {4, 6}}, {f32, {}}}, {}, select},
      {"Cast", "float to int", {{f32, {9}, -9, 9}}, {{"dtype", i32}}, unary(std::trunc)},
      {"Cast", "int to float", {{i64, {9}, -9, 9}}, {{"dtype", f32}}, unary(same)},
      {"Cast", "byte to float", {{u8, {9}, 0, 256}}, {{"dtype", f32}}, unary(same)},
      {"Cast", "float to double", {{f32, {9}}}, {{"dtype", DType::float64}}, unary(same)},
      {"Cast", "int to bool", {{i32, {9}, 0, 2}}, {{"dtype", boolean}}, unary(nonzero)},
      {"Cast", "bool to float", {{boolean, {9}, 0, 2}}, {{"dtype", f32}}, unary(same)},
  };
}

Attrs reduced(const Ints& axes, bool keep_dims) { return {{"axes", axes}, {"keep_dims", keep_dims}}; }

Rows reduce_rows() {
  const Input cube{f32, {2, 3, 4}}, matrix{f32, {3, 5}};
  return {
      {"Sum", "everything", {cube}, reduced({}, false), reduction({1, 1, 1}, {}, sum_of)},
      {"Sum", "rows", {matrix}, reduced({-1}, false), reduction({3, 1}, {3}, sum_of)},
      {"Sum", "columns", {matrix}, reduced({0}, true), reduction({1, 5}, {1, 5}, sum_of)},
      {"Sum", "outer axes", {cube}, reduced({0, 2}, false), reduction({1, 3, 1}, {3}, sum_of)},
      {"Sum", "integers", {{i32, {3, 5}, -9, 9}}, reduced({1}, false), reduction({3, 1}, {3}, sum_of)},
      {"Sum", "of nothing", {{f32, {0, 3}}}, reduced({0}, false), reduction({1, 3}, {3}, sum_of)},
      {"Mean", "everything", {cube}, reduced({}, true), reduction({1, 1, 1}, {1, 1, 1}, mean_of)},
      {"Mean", "the middle axis", {cube}, reduced({1}, false), reduction({2, 1, 4}, {2, 4}, mean_of)},
      {"Max", "everything", {cube}, reduced({}, false), reduction({1, 1, 1}, {}, largest)},
      {"Max", "rows", {matrix}, reduced({1}, true), reduction({3, 1}, {3, 1}, largest)},
      {"Min", "columns", {matrix}, reduced({0}, false), reduction({1, 5}, {5}, smallest)},
      {"ArgMax",
       "rows",
       {matrix},
       {{"axis", std::int64_t{1}}},
       reduction({3, 1}, {3}, place_of_largest)},
      {"ArgMax",
       "columns",
       {matrix},
       {{"axis", std::int64_t{0}}},
       reduction({1, 5}, {5}, place_of_largest)},
  };
}

Attrs fill(double value, DType dtype) {
  return {{"value", value}, {"dtype", dtype}, {"shape", Shape{2}}};
}

Rows broadcast_rows() {
  const Input cube{f32, {2, 3, 4}};
  const auto like = [](const Shape& shape) { return Input{f32, shape}; };
  return {
      {"SumLike", "a row", {cube, like({4})}, {}, reduction({1, 1, 4}, {4}, sum_of)},
      {"SumLike", "a column", {cube, like({3, 1})}, {}, reduction({1, 3, 1}, {3, 1}, sum_of)},
      {"SumLike", "itself", {cube, like({2, 3, 4})}, {}, reduction({2, 3, 4}, {2, 3, 4}, sum_of)},
      {"BroadcastLike",
       "a row",
       {like({4}), cube},
       {},
       rearranged({2, 3, 4}, [](Index i) { return i; })},
      {"BroadcastLike",
       "a scalar",
       {like({}), cube},
       {},
       rearranged({2, 3, 4}, [](Index i) { return i; })},
      {"MeanLike", "a row", {cube, like({4})}, {}, reduction({1, 1, 4}, {4}, mean_of)},
      {"MeanLike", "a scalar", {cube, like({})}, {}, reduction({1, 1, 1}, {}, mean_of)},
      {"SpreadLike",
       "a row",
       {like({4}), cube},
       {},
       rearranged(
           {2, 3, 4}, [](Index i) { return i; }, 6)},
      {"ZerosLike", "", {cube}, {}, unary(zero)},
      {"OnesLike", "", {cube}, {}, unary(one)},
      {"Fill", "", {}, fill(1.5, f32), always({{2}, {1.5, 1.5}})},
      {"Fill", "integers", {}, fill(-3, i64), always({{2}, {-3, -3}})},
  };
}

Attrs precise(std::string precision) { return {{"precision", std::move(precision)}}; }

Rows matrix_rows() {
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

Attrs fused(bool transpose_a, bool transpose_b, bool relu) {
  return {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"relu", relu}};
}

Rows fused_rows() {
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

Attrs random(std::string_view first, double a, std::string_view second, double b) {
  return {{"dtype", f32},
          {"shape", Shape{3, 101}},
          {"seed", std::int64_t{7}},
          {std::string(first), a},
          {std::string(second), b}};
}

// The values are checked in the suite "random".
Rows random_rows() {
  const Input counter{i64, {}, 0, 1000};
  return {
      {"RandomUniform", "", {}, random("low", -1, "high", 1), {}},
      {"RandomUniform", "with a counter", {counter}, random("low", -1, "high", 1), {}},
      {"RandomNormal", "", {}, random("mean", 1, "stddev", 2), {}},
      {"TruncatedNormal", "", {}, random("mean", 1, "stddev", 2), {}},
  };
}

template <class T>
Tensor random_tensor(const Input& input, std::mt19937& random) {
  std::uniform_real_distribution<double> distribution(input.low, input.high);
  Tensor tensor = Tensor::allocate(dtype_of<T>, input.shape);
  for (T& value : tensor.mutable_values<T>()) {
    const double drawn = distribution(random);
    value = static_cast<T>(is_floating(dtype_of<T>) ? drawn : std::floor(drawn));
  }
  return tensor;
}

// Calls body.operator()<T>() for the C++ type of a numeric dtype.
template <class Body>
auto with_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::float32:
      return body.template operator()<float>();
    case DType::float64:
      return body.template operator()<double>();
    case DType::int32:
      return body.template operator()<std::int32_t>();
    case DType::int64:
      return body.template operator()<std::int64_t>();
    case DType::uint8:
      return body.template operator()<std::uint8_t>();
    case DType::float16:
      return body.template operator()<Float16>();
    case DType::bfloat16:
      return body.template operator()<BFloat16>();
    default:
      return body.template operator()<bool>();
  }
}

}  // namespace

const std::vector<OpRow>& op_table() {
  static const Rows table = [] {
    Rows all;
    for (const auto family :
         {core_rows, unary_rows, binary_rows, compare_rows, reduce_rows, broadcast_rows, shape_rows,
          matrix_rows, fused_rows, random_rows, conv_rows, model_rows, array_rows})
      for (auto& row : family()) all.push_back(std::move(row));
    return all;
  }();
  return table;
}

bool has_gradient(const OpRow& row) {
  const auto gradient = builtin_ops().def(row.op).gradient;
  return gradient && gradient != no_gradient_yet;
}

std::vector<Tensor> make_inputs(const OpRow& row, DType floating) {
  std::mt19937 random(42);
  std::vector<Tensor> tensors;
  for (const Input& input : row.inputs)
    tensors.push_back(with_type(input.dtype == f32 ? floating : input.dtype,
                                [&]<class T>() { return random_tensor<T>(input, random); }));
  return tensors;
}

Array to_array(const Tensor& tensor) {
  Array array{tensor.shape(), {}};
  with_type(tensor.dtype(), [&]<class T>() {
    for (const T value : tensor.values<T>()) array.values.push_back(static_cast<double>(value));
  });
  return array;
}

}  // namespace actorflow::test

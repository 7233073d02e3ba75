#include "test/kernels/support/elementwise_rows.h"

#include <cmath>

#include "test/kernels/support/reference.h"

namespace actorflow::test {
namespace {

constexpr DType boolean = DType::boolean, u8 = DType::uint8;

double neg(double x) { return -x; }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double square(double x) { return x * x; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double tanh_grad(double g, double y) { return g * (1 - y * y); }
double sigmoid_grad(double g, double y) { return g * y * (1 - y); }

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

Arrays select(const Arrays& in) {
  const Shape shape = broadcast(in[0].shape, broadcast(in[1].shape, in[2].shape));
  return {
      array_of(shape, [&](const Index& i) { return at(in[0], i) != 0 ? at(in[1], i) : at(in[2], i); })};
}

}  // namespace

std::vector<OpRow> unary_rows() {
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

std::vector<OpRow> binary_rows() {
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

std::vector<OpRow> compare_rows() {
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

}  // namespace actorflow::test

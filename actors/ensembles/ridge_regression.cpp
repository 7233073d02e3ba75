#include "actors/ensembles/ridge_regression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// A dense matrix, stored row by row.
struct Matrix {
  std::size_t rows, columns;
  std::vector<double> values = std::vector<double>(rows * columns);

  double& operator()(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  double operator()(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

Matrix matrix_of(const Tensor& table) {
  const auto values = table.values<double>();
  return {static_cast<std::size_t>(table.shape()[0]),
          static_cast<std::size_t>(table.shape()[1]),
          {values.begin(), values.end()}};
}

// Subtracts from each column its mean, and returns the means.
std::vector<double> centre(Matrix& table) {
  std::vector<double> means(table.columns);
  for (std::size_t row = 0; row < table.rows; ++row)
    for (std::size_t i = 0; i < table.columns; ++i)
      means[i] += table(row, i) / static_cast<double>(table.rows);
  for (std::size_t row = 0; row < table.rows; ++row)
    for (std::size_t i = 0; i < table.columns; ++i) table(row, i) -= means[i];
  return means;
}

// a' b.
Matrix transposed_by(const Matrix& a, const Matrix& b) {
  Matrix c{a.columns, b.columns};
  for (std::size_t row = 0; row < a.rows; ++row)
    for (std::size_t i = 0; i < a.columns; ++i)
      for (std::size_t k = 0; k < b.columns; ++k) c(i, k) += a(row, i) * b(row, k);
  return c;
}

// a a'.
Matrix by_transposed(const Matrix& a) {
  Matrix c{a.rows, a.rows};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k <= i; ++k) {
      double sum = 0;
      for (std::size_t column = 0; column < a.columns; ++column) sum += a(i, column) * a(k, column);
      c(i, k) = c(k, i) = sum;
    }
  return c;
}

// Cholesky's decomposition in place: the lower triangle l with l l' = a. Throws invalid_argument if `a`
// is not positive definite, which only rounding can cause here, and for numbers that are not finite.
void decompose(Matrix& a) {
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k <= i; ++k) {
      double sum = a(i, k);
      for (std::size_t j = 0; j < k; ++j) sum -= a(i, j) * a(k, j);
      if (i == k && !(sum > 0 && std::isfinite(sum)))
        throw invalid_argument(
            "stacking: the regression of what the members predict has no single answer: they predict "
            "the same, or what is no number; expected a smaller regularization C, or other members");
      a(i, k) = i == k ? std::sqrt(sum) : sum / a(k, k);
    }
}

// Solves l l' x = b; x replaces b.
void solve(const Matrix& l, Matrix& b) {
  for (std::size_t k = 0; k < b.columns; ++k) {
    for (std::size_t i = 0; i < l.rows; ++i) {
      for (std::size_t j = 0; j < i; ++j) b(i, k) -= l(i, j) * b(j, k);
      b(i, k) /= l(i, i);
    }
    for (std::size_t i = l.rows; i-- > 0;) {
      for (std::size_t j = i + 1; j < l.rows; ++j) b(i, k) -= l(j, i) * b(j, k);
      b(i, k) /= l(i, i);
    }
  }
}

// Solves (a + penalty) x = b; x replaces b.
void solve_penalized(Matrix a, double penalty, Matrix& b) {
  for (std::size_t i = 0; i < a.rows; ++i) a(i, i) += penalty;
  decompose(a);
  solve(a, b);
}

// (x'x + penalty)^-1 x'y = x'(xx' + penalty)^-1 y, computed with the smaller of the two square matrices.
Matrix ridge_weights(const Matrix& x, Matrix y, double penalty) {
  if (x.columns > x.rows) {
    solve_penalized(by_transposed(x), penalty, y);
    return transposed_by(x, y);
  }
  Matrix weights = transposed_by(x, y);
  solve_penalized(transposed_by(x, x), penalty, weights);
  return weights;
}

}  // namespace

LinearScores fit_ridge_regression(const Tensor& features, const Tensor& expected, double c) {
  Matrix x = matrix_of(features), y = matrix_of(expected);
  const std::vector<double> x_means = centre(x);
  std::vector<double> bias = centre(y);
  const Matrix weights = ridge_weights(x, std::move(y), 1 / c);
  for (std::size_t i = 0; i < weights.rows; ++i)
    for (std::size_t k = 0; k < weights.columns; ++k) bias[k] -= x_means[i] * weights(i, k);
  return {Tensor::of<double>({features.shape()[1], expected.shape()[1]}, weights.values),
          Tensor::of<double>({expected.shape()[1]}, bias)};
}

}  // namespace actorflow

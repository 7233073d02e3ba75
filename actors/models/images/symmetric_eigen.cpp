#include "actors/models/images/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

// Turns rows (or columns, by `at`) p and q by an angle with these cosine and sine.
template <class At>
void rotate(std::int64_t size, double cosine, double sine, At at) {
  for (std::int64_t i = 0; i < size; ++i) {
    auto [p, q] = at(i);
    const double before = p;
    p = cosine * before - sine * q;
    q = sine * before + cosine * q;
  }
}

double sum_of_squares_beside_the_diagonal(const SymmetricMatrix& matrix) {
  double sum = 0;
  for (std::int64_t row = 0; row < matrix.size(); ++row)
    for (std::int64_t column = 0; column < row; ++column)
      sum += matrix.at(row, column) * matrix.at(row, column);
  return sum;
}

// Makes the element (p, q) zero.
void annihilate(SymmetricMatrix& a, SymmetricMatrix& vectors, std::int64_t p, std::int64_t q) {
  if (a.at(p, q) == 0) return;
  const double half = (a.at(q, q) - a.at(p, p)) / (2 * a.at(p, q));
  const double tangent = (half < 0 ? -1 : 1) / (std::abs(half) + std::sqrt(half * half + 1));
  const double cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
  using Pair = std::pair<double&, double&>;
  rotate(a.size(), cosine, sine, [&](std::int64_t i) { return Pair(a.at(p, i), a.at(q, i)); });
  rotate(a.size(), cosine, sine, [&](std::int64_t i) { return Pair(a.at(i, p), a.at(i, q)); });
  rotate(a.size(), cosine, sine,
         [&](std::int64_t i) { return Pair(vectors.at(i, p), vectors.at(i, q)); });
}

Eigen sorted(const SymmetricMatrix& diagonal, const SymmetricMatrix& vectors) {
  const std::int64_t size = diagonal.size();
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::ranges::greater{}, [&](std::int64_t i) { return diagonal.at(i, i); });
  Eigen result{{}, SymmetricMatrix(size)};
  for (std::int64_t column = 0; column < size; ++column) {
    const std::int64_t from = order[static_cast<std::size_t>(column)];
    result.values.push_back(diagonal.at(from, from));
    double largest = 0;
    for (std::int64_t row = 0; row < size; ++row)
      if (std::abs(vectors.at(row, from)) > std::abs(largest)) largest = vectors.at(row, from);
    for (std::int64_t row = 0; row < size; ++row)
      result.vectors.at(row, column) = largest < 0 ? -vectors.at(row, from) : vectors.at(row, from);
  }
  return result;
}

}  // namespace

void SymmetricMatrix::add_square(std::span<const double> x) {
  ACTORFLOW_CHECK(std::ssize(x) == size_, x.size(), "elements for a matrix of size", size_);
  double* value = values_.data();
  for (const double row : x)
    for (const double column : x) *value++ += row * column;
}

void SymmetricMatrix::scale(double factor) {
  for (double& value : values_) value *= factor;
}

Eigen eigen_of(SymmetricMatrix a) {
  SymmetricMatrix vectors(a.size());
  for (std::int64_t i = 0; i < a.size(); ++i) vectors.at(i, i) = 1;
  constexpr int most_sweeps = 50;  // it takes about 10
  double trace = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) trace += std::abs(a.at(i, i));
  const double enough = 1e-24 * trace * trace;
  for (int sweep = 0; sweep < most_sweeps && sum_of_squares_beside_the_diagonal(a) > enough; ++sweep)
    for (std::int64_t p = 0; p < a.size(); ++p)
      for (std::int64_t q = p + 1; q < a.size(); ++q) annihilate(a, vectors, p, q);
  return sorted(a, vectors);
}

}  // namespace actorflow

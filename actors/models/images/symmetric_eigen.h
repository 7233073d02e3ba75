// Eigenvectors of small symmetric matrices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace actorflow {

// A square matrix of doubles. Callers keep it symmetric: nothing here checks that.
class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(std::int64_t size)
      : size_(size), values_(static_cast<std::size_t>(size * size)) {}

  std::int64_t size() const { return size_; }
  double& at(std::int64_t row, std::int64_t column) { return values_[place(row, column)]; }
  double at(std::int64_t row, std::int64_t column) const { return values_[place(row, column)]; }
  // Adds x x^T. REQUIRES: x has size() elements.
  void add_square(std::span<const double> x);
  void scale(double factor);

 private:
  std::size_t place(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * size_ + column);
  }

  std::int64_t size_;
  std::vector<double> values_;
};

struct Eigen {
  std::vector<double> values;  // descending
  SymmetricMatrix vectors;     // in columns, of length 1; their largest element is positive
};
// By Jacobi's rotations (Golub and Van Loan, Matrix Computations, section 8.5): the same on every
// machine that computes doubles alike.
Eigen eigen_of(SymmetricMatrix matrix);

}  // namespace actorflow

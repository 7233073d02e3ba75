// Matrix products by oneDNN, without its headers.
#pragma once

#include <cstdint>
#include <memory>

#include "dataflow/values/tensor.h"
#include "kernels/products/factors.h"

namespace actorflow {

// Output [m,n] = op(a) [m,k] op(b) [k,n], where op transposes or does nothing.
struct MatMulShape {
  std::int64_t m, k, n;
  bool transpose_a, transpose_b;
  bool operator==(const MatMulShape&) const = default;
};

// A part of a product: the sum over some of the k inner indices, for some rows and columns of the
// output.
struct MatMulBlock {
  std::int64_t first_row, rows, first_column, columns, first_inner, inner;
};

// The parts of a large product, which several threads can compute. They follow from the shape alone, so
// that the result does not depend on the number of threads.
class MatMulParts {
 public:
  explicit MatMulParts(const MatMulShape& shape);

  int count() const { return count_; }
  MatMulBlock block(int part) const;
  // True if each part is a sum over some of the inner indices: a matrix [m,n] of its own, to be added to
  // the others.
  bool are_terms() const { return divided_ == Divided::inner; }

 private:
  enum class Divided { rows, columns, inner };

  MatMulShape shape_;
  Divided divided_ = Divided::rows;
  int count_ = 1;
};

// Products of any shapes, in float32. Keeps the primitives that oneDNN makes for a shape. The result's
// bits depend on shape, block and inputs alone. Thread-safe.
class OneDnnMatMul {
 public:
  OneDnnMatMul();
  ~OneDnnMatMul();

  // Scratch memory comes from `allocator`. Throws resource_exhausted, or internal if oneDNN fails.
  // REQUIRES: matrices of these shapes on the host, none of them empty; tensors of float32.
  void multiply(const MatMulShape& shape, const Tensor& a, const Tensor& b, Tensor& output,
                Allocator& allocator) const;
  // Computes a part of the product, to its place in output [m,n].
  void multiply(const MatMulShape& shape, const MatMulBlock& block, const Factors& factors,
                float* output, Allocator& allocator) const;

 private:
  struct Primitives;
  std::unique_ptr<Primitives> primitives_;
};

}  // namespace actorflow

// Matrix products by oneDNN, without its headers.
#pragma once

#include <cstdint>
#include <memory>

#include "dataflow/tensor.h"

namespace actorflow {

// Output [m,n] = op(a) [m,k] op(b) [k,n], where op transposes or does nothing.
struct MatMulShape {
  std::int64_t m, k, n;
  bool transpose_a, transpose_b;
  bool operator==(const MatMulShape&) const = default;
};

// A block of the output.
struct MatMulBlock {
  std::int64_t first_row, rows, first_column, columns;
};

// A large product is divided into blocks that several threads can compute. Their number follows from the
// shape alone, so that the result does not depend on the number of threads.
int matmul_parts(const MatMulShape& shape);
MatMulBlock matmul_part(const MatMulShape& shape, int part);

// float32 products of whatever shapes come; keeps what oneDNN prepares for a shape. The result's bits
// depend on shape, block and inputs alone. Thread-safe.
class OneDnnMatMul {
 public:
  OneDnnMatMul();
  ~OneDnnMatMul();

  // Scratch memory comes from `allocator`. Throws resource_exhausted, or internal if oneDNN fails.
  // REQUIRES: float32 tensors of these shapes on the host, none of them empty.
  void multiply(const MatMulShape& shape, const Tensor& a, const Tensor& b, Tensor& output,
                Allocator& allocator) const;
  // A block of the output only.
  void multiply(const MatMulShape& shape, const MatMulBlock& block, const Tensor& a, const Tensor& b,
                Tensor& output, Allocator& allocator) const;

 private:
  struct Primitives;
  std::unique_ptr<Primitives> primitives_;
};

}  // namespace actorflow

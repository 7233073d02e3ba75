// Products of many matrices by oneDNN, without its headers.
#pragma once

#include <cstdint>
#include <memory>

#include "dataflow/values/buffer.h"
#include "kernels/products/factors.h"

namespace actorflow {

// Output [batch,m,n] = op(a) [batch or 1,m,k] op(b) [batch or 1,k,n], where op transposes or does
// nothing. A shared side is one matrix for the whole batch.
struct BatchMatMulShape {
  std::int64_t batch, m, k, n;
  bool transpose_a, transpose_b, shared_a, shared_b;
  bool operator==(const BatchMatMulShape&) const = default;
};

// Products of any shapes, in float32. Keeps the primitives that oneDNN makes for a shape. The result's
// bits depend on shape and inputs alone. Thread-safe.
class OneDnnBatchMatMul {
 public:
  OneDnnBatchMatMul();
  ~OneDnnBatchMatMul();

  // Scratch memory comes from `allocator`. Throws resource_exhausted, or internal if oneDNN fails.
  // REQUIRES: host memory of these sizes, none of them empty.
  void multiply(const BatchMatMulShape& shape, const Factors& factors, float* output,
                Allocator& allocator) const;

 private:
  struct Primitives;
  std::unique_ptr<Primitives> primitives_;
};

}  // namespace actorflow

// Products of float32 by cuBLASLt, which adds a bias while it stores the product. Included by CUDA code
// only.
#pragma once

#include "dataflow/graph/precision.h"
#include "kernels/devices/cublas.h"
#include "kernels/products/onednn_matmul.h"

namespace actorflow {

// Memory of the device; the bias, one value for each column, may be null.
struct LtOperands {
  const float *a, *b, *bias;
  float* output;
};

enum class LtLaunched {
  nothing,  // the library is missing or has no algorithm for this
  product,  // without the bias
  sum,      // with it
};

// Launches output = op(a) op(b), and adds the bias if it can. The product has the same bits with and
// without the bias, which is added to it in float32, so a sum has the bits of two passes. Sums of an
// algorithm are made in an order that does not change between runs. Thread-safe; `handle` is the
// device's. REQUIRES: m, k and n are positive.
LtLaunched launch_lt_matmul(const CublasHandle& handle, Device& device, const MatMulShape& shape,
                            Precision precision, const LtOperands& operands);

}  // namespace actorflow

// Products of many matrices by a plain loop, for float64.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/loops/vectorised.h"
#include "kernels/products/onednn_batch_matmul.h"

namespace actorflow {

// As OneDnnBatchMatMul::multiply(), one product after the other.
inline void multiply_plainly(const BatchMatMulShape& s, const double* a, const double* b,
                             double* output) {
  const std::int64_t a_row = s.transpose_a ? 1 : s.k, a_column = s.transpose_a ? s.m : 1;
  const std::int64_t b_row = s.transpose_b ? 1 : s.n, b_column = s.transpose_b ? s.k : 1;
  vectorised([=] {
    for (std::int64_t batch = 0; batch < s.batch; ++batch) {
      const double* left = a + (s.shared_a ? 0 : batch * s.m * s.k);
      const double* right = b + (s.shared_b ? 0 : batch * s.k * s.n);
      for (std::int64_t i = 0; i < s.m; ++i) {
        double* sums = output + (batch * s.m + i) * s.n;
        std::fill_n(sums, s.n, 0.0);
        for (std::int64_t p = 0; p < s.k; ++p) {
          const double factor = left[i * a_row + p * a_column];
#pragma GCC ivdep
          for (std::int64_t j = 0; j < s.n; ++j) sums[j] += factor * right[p * b_row + j * b_column];
        }
      }
    }
  });
}

}  // namespace actorflow

// Sums of the columns of a matrix, which is in memory or computed and stored on the way.
//
// An Elements object gives the elements: on a CPU elements.run(first, count) returns a pointer to
// `count` of them, on a GPU it gives packs (column_sums.h). Each element is asked for once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/loops/rows.h"
#include "kernels/loops/vectorised.h"
#ifdef __CUDACC__
#include "kernels/loops/column_sums.h"
#endif

namespace actorflow {

// Sums the rows from `begin` to `end` on a CPU: in double, so that a column of many rows loses no
// precision, and row by row, to read memory in order.
template <class T, class Elements>
void sum_columns_on_cpu(Rows size, std::int64_t begin, std::int64_t end, Elements elements, T* sums) {
  vectorised([=] {
    constexpr std::int64_t block = 512;
    double totals[block];
    for (std::int64_t first = begin; first < end; first += block) {
      const std::int64_t count = std::min(block, end - first);
      std::fill_n(totals, count, 0.0);
      for (std::int64_t row = 0; row < size.rows; ++row) {
        const T* values = elements.run(row * size.columns + first, count);
        for (std::int64_t j = 0; j < count; ++j) totals[j] += static_cast<double>(values[j]);
      }
      for (std::int64_t j = 0; j < count; ++j) sums[first + j] = static_cast<T>(totals[j]);
    }
  });
}

// sums[j] = the sum of column j.
template <class T, class Elements>
void sum_columns(const OpContext& c, Rows size, const Elements& elements, T* sums) {
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda)
    return sum_columns_on_cuda(c.device(), size, elements, [=] __device__(std::int64_t j, double total) {
      sums[j] = static_cast<T>(total);
    });
#endif
  constexpr std::int64_t elements_per_part = 1 << 16, columns_per_part = 512;
  const auto worth =
      std::min(size.rows * size.columns / elements_per_part, size.columns / columns_per_part);
  share_out(c.team(), Shares(size.columns, worth, 64), [&](std::int64_t first, std::int64_t last) {
    sum_columns_on_cpu(size, first, last, elements, sums);
  });
}

}  // namespace actorflow

// The sum of row-sparse gradients, row by row.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "dataflow/graph/op.h"
#include "kernels/update/sparse_update.h"

namespace actorflow {

// Grows with the rows that the gradients have, not with their number. Not thread-safe.
class RowSums {
 public:
  // Rows of equal indices add up. If it throws, it has added nothing. REQUIRES: all gradients are of the same dtype, float32 or float64, and
  // shape of rows.
  void add(const GradientRows& gradient);
  // The rows that were added, in ascending order, and forgets them; `mean`: each divided by the number
  // of gradients that had it. `whole` is the type of the tensor that they are rows of.
  GradientRows take(const TensorType& whole, bool mean);

 private:
  void make_rows(std::span<const std::int64_t> indices, const TensorType& row);

  struct Row {
    Tensor sum;
    std::int64_t gradients = 0;
    std::int64_t last = -1;  // the last gradient that had it, by number
  };
  std::map<std::int64_t, Row> rows_;
  std::int64_t added_ = 0;
};

}  // namespace actorflow

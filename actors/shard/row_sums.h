// The sum of row-sparse gradients, row by row.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "dataflow/graph/op.h"
#include "kernels/update/sparse_update.h"

namespace actorflow {

// A sum that needs memory for the rows of the gradients, however many gradients there are. Not
// thread-safe.
class RowSums {
 public:
  // Adds a gradient; rows of equal indices add up. If it throws, it has added nothing. REQUIRES: all
  // gradients are of the same dtype, float32 or float64, and shape of rows.
  void add(const GradientRows& gradient);
  // Returns the added rows, in ascending order, and forgets them. `mean`: divides each by the number of
  // gradients that had it. `whole` is the type of the whole tensor.
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

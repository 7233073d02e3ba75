// Tuples of tensors as the rows of larger tensors, for making batches and taking them apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataflow/graph/tensor_types.h"

namespace actorflow {

// The number of rows, which is the first dimension of every tensor. Throws invalid_argument unless there
// is at least one tensor and all have as many rows.
std::int64_t rows_of(std::span<const Tensor> columns);
// A copy of one row, without the first dimension. REQUIRES: 0 <= row < rows_of(columns).
Tuple row_of(std::span<const Tensor> columns, std::int64_t row);

// Stacks tuples of equal types along a new first dimension. Not thread-safe.
class RowStacker {
 public:
  // Allocates memory for that many rows, or 1 GiB of them, at first: for all if their number is known.
  explicit RowStacker(std::int64_t rows_expected) : expected_(rows_expected) {}

  std::int64_t rows() const { return rows_; }
  // Adds a row. Throws invalid_argument if the tuple differs in type from the first one.
  void add(std::span<const Tensor> tuple);
  // The same as add(row_of(columns, row)), without making a tensor.
  void add_row(std::span<const Tensor> columns, std::int64_t row);
  // The same of several rows, wherever they lie in memory.
  void add_rows(std::span<const Tensor> columns, std::span<const std::uint32_t> rows);
  // Returns all added rows and starts anew. Empty if there were none.
  Tuple take();

 private:
  void begin_rows(std::span<const Tensor> like, int axes_left_out, std::int64_t count);
  void grow(std::int64_t at_least);

  std::int64_t expected_;
  std::int64_t rows_ = 0;
  std::int64_t capacity_ = 0;
  Tuple columns_;  // `capacity_` rows, of which `rows_` are filled
};

Tuple stack(std::span<const Tuple> tuples);
// Stacks tuples whose dimensions differ: each component gets its largest dimensions, padded by zeros or
// empty strings. Throws invalid_argument if dtypes or ranks differ.
Tuple stack_padded(std::span<const Tuple> tuples);

}  // namespace actorflow

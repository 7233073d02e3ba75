// Which examples a member learns. Pure functions of their arguments, the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/graph/tensor_types.h"

namespace actorflow {

using RowNumbers = std::vector<std::int64_t>;

// The seed of an ensemble's first member; others add their number to it. Ensembles of other seeds, such
// as 1, 2 and 3, begin far from each other, so that no member of one is a member of another.
std::uint64_t first_seed(std::uint64_t seed);

// `draws` of the rows, drawn with replacement. REQUIRES: rows > 0.
RowNumbers bootstrap_sample(std::int64_t rows, std::int64_t draws, std::uint64_t seed);
// The rows that are not in the sample, in their order.
RowNumbers left_out(std::int64_t rows, const RowNumbers& sample);
// The fold of each row: the rows of a class are dealt out in turn, beginning with fold 0, so that each
// fold has about the same share of each class.
std::vector<int> stratified_folds(const std::vector<std::int64_t>& labels, int folds);
// The fold of each row, in folds of neighbouring rows. Their sizes differ by at most one row; the first
// folds are the larger ones.
std::vector<int> consecutive_folds(std::int64_t rows, int folds);

// These rows of all tensors.
Tuple rows_at(const Tuple& columns, const RowNumbers& rows);
// The first tensors of examples.
Tuple inputs_of(const Tuple& columns, std::size_t inputs);
// The types of one row.
std::vector<TensorType> row_types(const Tuple& columns);
// The labels as numbers of classes. Throws invalid_argument unless the tensor is [n] of uint8, int32 or
// int64.
std::vector<std::int64_t> class_numbers(const Tensor& labels);

}  // namespace actorflow

#include "actors/ensembles/samples.h"

#include <map>
#include <random>

#include "actors/input/rows.h"
#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

template <class T>
std::vector<std::int64_t> as_int64(const Tensor& labels) {
  const auto values = labels.values<T>();
  return {values.begin(), values.end()};
}

}  // namespace

// Multiples of 2^64 divided by the golden ratio keep apart (Knuth, volume 3, section 6.4).
std::uint64_t first_seed(std::uint64_t seed) { return 1 + (seed - 1) * 0x9e3779b97f4a7c15; }

// The upper half of a product with 64 random bits: unlike std::uniform_int_distribution the same in
// every standard library.
RowNumbers bootstrap_sample(std::int64_t rows, std::int64_t draws, std::uint64_t seed) {
  ACTORFLOW_CHECK(rows > 0, draws, "draws of", rows, "rows");
  std::mt19937_64 random(seed);
  RowNumbers sample;
  for (std::int64_t i = 0; i < draws; ++i)
    sample.push_back(static_cast<std::int64_t>(
        (static_cast<unsigned __int128>(random()) * static_cast<std::uint64_t>(rows)) >> 64));
  return sample;
}

RowNumbers left_out(std::int64_t rows, const RowNumbers& sample) {
  std::vector<bool> drawn(static_cast<std::size_t>(rows));
  for (const std::int64_t row : sample) drawn[static_cast<std::size_t>(row)] = true;
  RowNumbers others;
  for (std::int64_t row = 0; row < rows; ++row)
    if (!drawn[static_cast<std::size_t>(row)]) others.push_back(row);
  return others;
}

std::vector<int> stratified_folds(const std::vector<std::int64_t>& labels, int folds) {
  std::map<std::int64_t, int> next;
  std::vector<int> fold_of_row;
  for (const std::int64_t label : labels) {
    int& fold = next[label];
    fold_of_row.push_back(fold);
    fold = (fold + 1) % folds;
  }
  return fold_of_row;
}

std::vector<int> consecutive_folds(std::int64_t rows, int folds) {
  std::vector<int> fold_of_row;
  for (int fold = 0; fold < folds; ++fold)
    fold_of_row.insert(fold_of_row.end(),
                       static_cast<std::size_t>(rows / folds + (fold < rows % folds ? 1 : 0)), fold);
  return fold_of_row;
}

Tuple rows_at(const Tuple& columns, const RowNumbers& rows) {
  RowStacker stacker(static_cast<std::int64_t>(rows.size()));
  for (const std::int64_t row : rows) stacker.add_row(columns, row);
  return stacker.take();
}

Tuple inputs_of(const Tuple& columns, std::size_t inputs) {
  return {columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(inputs)};
}

std::vector<TensorType> row_types(const Tuple& columns) {
  std::vector<TensorType> types;
  for (const Tensor& column : columns)
    types.push_back({column.dtype(), Shape(column.shape().dims().subspan(1))});
  return types;
}

std::vector<std::int64_t> class_numbers(const Tensor& labels) {
  if (labels.shape().rank() == 1) {
    if (labels.dtype() == DType::int64) return as_int64<std::int64_t>(labels);
    if (labels.dtype() == DType::int32) return as_int64<std::int32_t>(labels);
    if (labels.dtype() == DType::uint8) return as_int64<std::uint8_t>(labels);
  }
  throw invalid_argument(
      "the labels of an ensemble that votes are numbers of classes: expected int64[n], got " +
      labels.describe());
}

}  // namespace actorflow

#include "actors/input/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dataflow/values/check.h"
#include "kernels/devices/device.h"

namespace actorflow {
namespace {

Tensor allocate(DType dtype, const Shape& shape) {
  return Tensor::allocate(dtype, shape, cpu_device().allocator());
}

Shape with_rows(std::int64_t rows, std::span<const std::int64_t> dims) {
  Shape shape;
  shape.push_back(rows);
  for (const auto dim : dims) shape.push_back(dim);
  return shape;
}

// Copies `count` elements from place `from` of one tensor to place `to` of another.
void copy_elements(const Tensor& source, std::int64_t from, Tensor& target, std::int64_t to,
                   std::int64_t count) {
  if (count == 0) return;
  if (source.dtype() == DType::string) {
    const auto texts = source.values<std::string>().subspan(static_cast<std::size_t>(from));
    std::copy_n(texts.begin(), count, target.mutable_values<std::string>().begin() + to);
    return;
  }
  const auto size = static_cast<std::int64_t>(size_of(source.dtype()));
  std::memcpy(static_cast<std::byte*>(target.mutable_data()) + to * size,
              static_cast<const std::byte*>(source.data()) + from * size,
              static_cast<std::size_t>(count * size));
}

// Copies rows that may lie far apart: each would be waited for, so the one after the next is on its way
// from memory meanwhile. Of long rows only the beginning, since a processor reads on by itself.
void copy_rows(const std::byte* from, std::int64_t row_bytes, std::span<const std::uint32_t> rows,
               std::byte* to) {
  if (row_bytes == 0) return;
  constexpr std::int64_t line = 64, most_ahead = 4096;
  for (std::size_t i = 0; i < rows.size(); ++i, to += row_bytes) {
    const std::byte* later = from + rows[std::min(i + 2, rows.size() - 1)] * row_bytes;
    for (std::int64_t at = 0; at < std::min(row_bytes, most_ahead); at += line)
      __builtin_prefetch(later + at);
    std::memcpy(to, from + rows[i] * row_bytes, static_cast<std::size_t>(row_bytes));
  }
}

// Memory for rows that may never come; more is taken as they do.
constexpr std::int64_t most_bytes_ahead = std::int64_t{1} << 30;

std::int64_t product(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  for (const auto dim : dims) count *= dim;
  return count;
}

// Copies the tensor into the corner of a block of `dims` that begins at place `to`: row by row, where a row
// is the last dimension.
void copy_corner(const Tensor& source, Tensor& target, std::int64_t to,
                 std::span<const std::int64_t> dims) {
  const auto from = source.shape().dims();
  if (source.elements() == 0) return;
  if (from.empty()) return copy_elements(source, 0, target, to, 1);
  std::vector<std::int64_t> index(from.size(), 0);
  for (std::int64_t read = 0; read < source.elements(); read += from.back()) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) place = place * dims[axis] + index[axis];
    copy_elements(source, read, target, to + place, from.back());
    for (auto axis = from.size() - 1; axis-- > 0;) {
      if (++index[axis] < from[axis]) break;
      index[axis] = 0;
    }
  }
}

std::vector<std::int64_t> largest_dims(std::span<const Tuple> tuples, std::size_t component) {
  const Tensor& first = tuples[0][component];
  std::vector<std::int64_t> dims(first.shape().dims().begin(), first.shape().dims().end());
  for (const auto& tuple : tuples) {
    const Tensor& tensor = tuple[component];
    if (tensor.dtype() != first.dtype() || tensor.shape().rank() != first.shape().rank())
      throw invalid_argument(fmt::format("tensors of a batch must be of one dtype and rank, but component "
                                         "{} is {} and {}",
                                         component, first.describe(), tensor.describe()));
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      dims[axis] = std::max(dims[axis], tensor.shape()[static_cast<int>(axis)]);
  }
  return dims;
}

}  // namespace

std::int64_t rows_of(std::span<const Tensor> columns) {
  if (columns.empty()) throw invalid_argument("expected tensors with a first dimension, got none");
  for (const auto& column : columns)
    if (column.shape().rank() < 1 || column.shape()[0] != columns[0].shape()[0])
      throw invalid_argument("expected tensors of one first dimension, got " + describe(columns));
  return columns[0].shape()[0];
}

Tuple row_of(std::span<const Tensor> columns, std::int64_t row) {
  ACTORFLOW_CHECK(0 <= row && row < rows_of(columns), "row", row, "of", rows_of(columns));
  Tuple tuple;
  for (const auto& column : columns) {
    Tensor tensor = allocate(column.dtype(), Shape(column.shape().dims().subspan(1)));
    copy_elements(column, row * tensor.elements(), tensor, 0, tensor.elements());
    tuple.push_back(std::move(tensor));
  }
  return tuple;
}

// Makes room for `count` rows of the types of `like`, whose first axes may be left out.
void RowStacker::begin_rows(std::span<const Tensor> like, int axes_left_out, std::int64_t count) {
  const auto dims_of = [axes_left_out](const Tensor& tensor) {
    return tensor.shape().dims().subspan(static_cast<std::size_t>(axes_left_out));
  };
  if (columns_.empty()) {
    std::int64_t row_bytes = 1;
    for (const auto& tensor : like)
      row_bytes += product(dims_of(tensor)) * static_cast<std::int64_t>(size_of(tensor.dtype()));
    capacity_ = std::min(expected_, std::max<std::int64_t>(1, most_bytes_ahead / row_bytes));
    for (const auto& tensor : like)
      columns_.push_back(allocate(tensor.dtype(), with_rows(capacity_, dims_of(tensor))));
  }
  const auto same = [&](const Tensor& column, const Tensor& tensor) {
    return column.dtype() == tensor.dtype() &&
           std::ranges::equal(column.shape().dims().subspan(1), dims_of(tensor));
  };
  if (!std::ranges::equal(columns_, like, same))
    throw invalid_argument(
        fmt::format("the elements of a batch must be of one type: after {} rows, which give {}, came {}",
                    rows_, describe(columns_), describe(like)));
  if (rows_ + count > capacity_) grow(rows_ + count);
}

void RowStacker::grow(std::int64_t at_least) {
  const std::int64_t capacity = std::max({2 * capacity_, at_least, std::int64_t{64}});
  for (auto& column : columns_) {
    Tensor larger = allocate(column.dtype(), with_rows(capacity, column.shape().dims().subspan(1)));
    copy_elements(column, 0, larger, 0, column.elements());
    column = std::move(larger);
  }
  capacity_ = capacity;
}

void RowStacker::add(std::span<const Tensor> tuple) {
  begin_rows(tuple, 0, 1);
  for (std::size_t i = 0; i < columns_.size(); ++i)
    copy_elements(tuple[i], 0, columns_[i], rows_ * tuple[i].elements(), tuple[i].elements());
  ++rows_;
}

void RowStacker::add_row(std::span<const Tensor> columns, std::int64_t row) {
  begin_rows(columns, 1, 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::int64_t count = product(columns[i].shape().dims().subspan(1));
    copy_elements(columns[i], row * count, columns_[i], rows_ * count, count);
  }
  ++rows_;
}

void RowStacker::add_rows(std::span<const Tensor> columns, std::span<const std::uint32_t> rows) {
  if (rows.empty()) return;
  begin_rows(columns, 1, std::ssize(rows));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::int64_t count = product(columns[i].shape().dims().subspan(1));
    if (columns[i].dtype() == DType::string) {
      for (std::int64_t to = rows_; const auto row : rows)
        copy_elements(columns[i], row * count, columns_[i], count * to++, count);
      continue;
    }
    const auto row_bytes = count * static_cast<std::int64_t>(size_of(columns[i].dtype()));
    copy_rows(static_cast<const std::byte*>(columns[i].data()), row_bytes, rows,
              static_cast<std::byte*>(columns_[i].mutable_data()) + rows_ * row_bytes);
  }
  rows_ += std::ssize(rows);
}

Tuple RowStacker::take() {
  Tuple all = std::move(columns_);
  for (auto& column : all)
    if (rows_ < capacity_)
      column = Tensor(column.dtype(), with_rows(rows_, column.shape().dims().subspan(1)),
                      column.buffer());
  columns_.clear();
  rows_ = 0;
  return all;
}

Tuple stack(std::span<const Tuple> tuples) {
  RowStacker rows(static_cast<std::int64_t>(tuples.size()));
  for (const auto& tuple : tuples) rows.add(tuple);
  return rows.take();
}

Tuple stack_padded(std::span<const Tuple> tuples) {
  Tuple all;
  const auto rows = static_cast<std::int64_t>(tuples.size());
  for (std::size_t component = 0; rows > 0 && component < tuples[0].size(); ++component) {
    const auto dims = largest_dims(tuples, component);
    Tensor column = Tensor::zeros(tuples[0][component].dtype(), with_rows(rows, dims),
                                  cpu_device().allocator());
    for (std::int64_t row = 0; row < rows; ++row)
      copy_corner(tuples[static_cast<std::size_t>(row)][component], column, row * product(dims), dims);
    all.push_back(std::move(column));
  }
  return all;
}

}  // namespace actorflow

#include "actors/jobs/tensors/record_tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow::detail {
namespace {

// The type of a column's rows.
Shape row_shape(const Tensor& column) { return Shape(column.shape().dims().subspan(1)); }

void copy_elements(const Tensor& from, std::int64_t first, Tensor& to, std::int64_t at,
                   std::int64_t count) {
  if (count == 0) return;
  if (from.dtype() == DType::string) {
    const auto texts = from.values<std::string>().subspan(first, count);
    std::ranges::copy(texts, to.mutable_values<std::string>().begin() + at);
    return;
  }
  const std::size_t size = size_of(from.dtype());
  std::memcpy(static_cast<std::byte*>(to.mutable_data()) + at * size,
              static_cast<const std::byte*>(from.data()) + first * size, count * size);
}

}  // namespace

TensorType type_of_row(const Tensor& value) {
  if (!value.valid())
    throw invalid_argument("a record has a Tensor without a value: rows of a tensor need one");
  if (!value.on_host())
    throw invalid_argument(value.describe() +
                           " lives on a GPU: what is in a record is on the host; copy it there first");
  return {value.dtype(), value.shape()};
}

void throw_other_length(std::size_t got, const Tensor& column) {
  throw invalid_argument(
      fmt::format("a record has a vector of {} elements where the first one of its "
                  "block has {}: rows of a tensor have one length",
                  got, column.shape()[1]));
}

void check_column(const Tensor& column, std::size_t rows, DType dtype, std::size_t elements) {
  const bool has_rows =
      column.shape().rank() > 0 && column.shape()[0] == static_cast<std::int64_t>(rows);
  if (column.dtype() == dtype && has_rows &&
      column.elements() == static_cast<std::int64_t>(rows * elements))
    return;
  throw invalid_argument(fmt::format("expected {} rows of {} elements of {}, got {}", rows, elements,
                                     to_string(dtype), column.describe()));
}

void set_row(Tensor& column, std::size_t row, const Tensor& value) {
  const TensorType type{column.dtype(), row_shape(column)};
  if (!(type_of_row(value) == type))
    throw invalid_argument(
        fmt::format("a record has the tensor {} where the first one of its block has {}{}: rows of a "
                    "tensor have one type",
                    value.describe(), to_string(type.dtype), type.shape.to_string()));
  copy_elements(value, 0, column, static_cast<std::int64_t>(row) * value.elements(), value.elements());
}

Tensor row_of(const Tensor& column, std::size_t row, std::size_t rows) {
  if (column.shape().rank() < 1 || column.shape()[0] != static_cast<std::int64_t>(rows))
    throw invalid_argument(fmt::format("expected {} rows, got {}", rows, column.describe()));
  Tensor value = Tensor::allocate(column.dtype(), row_shape(column));
  copy_elements(column, static_cast<std::int64_t>(row) * value.elements(), value, 0, value.elements());
  return value;
}

void check_num_columns(std::size_t wanted, std::size_t got) {
  if (wanted != got)
    throw invalid_argument(
        fmt::format("the record has {} fields that are tensors, but there are {} tensors", wanted, got));
}

}  // namespace actorflow::detail

// Records as rows of tensors, and rows as records.
//
// A number is a column of shape [rows], a std::array of numbers one of [rows, size] (arrays of arrays
// have more dimensions), a vector of numbers, of one length in all rows, too; a text is a string. A
// Tensor, of one dtype and shape in all rows, has one dimension more. Pairs, tuples and structs are the
// columns of what they hold.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dataflow/graph/tensor_types.h"
#include "schema/records/record.h"

namespace actorflow {
namespace detail {

// The number in the innermost of some arrays.
template <class T>
struct InnermostOf {
  using type = T;
};
template <class T, std::size_t size>
struct InnermostOf<std::array<T, size>> : InnermostOf<T> {};

template <class T>
consteval bool require_tensor_element() {
  static_assert(
      Element<T> && !std::is_same_v<T, std::string>,
      "what becomes a tensor is float, double, Float16, BFloat16, bool, std::uint8_t, a signed "
      "integer, an array or a vector of them, a text, a Tensor, or a struct of these");
  return true;
}

template <class T>
void append_dims(Shape& shape) {
  if constexpr (record_kind<T>() == RecordKind::array) {
    shape.push_back(static_cast<std::int64_t>(std::tuple_size_v<T>));
    append_dims<typename T::value_type>(shape);
  }
}

// Throws invalid_argument for a tensor without a value, and for one on a GPU.
TensorType type_of_row(const Tensor& value);

// The columns of records like this one, without their first dimension.
template <class T>
void append_types(const T& record, std::vector<TensorType>& types) {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::fields) {
    visit_fields(record, [&](const auto&... field) { (append_types(field, types), ...); });
  } else if constexpr (std::is_same_v<T, Tensor>) {
    types.push_back(type_of_row(record));
  } else if constexpr (kind == RecordKind::text) {
    types.push_back({DType::string, {}});
  } else if constexpr (kind == RecordKind::vector) {
    static_assert(require_tensor_element<typename T::value_type>());
    types.push_back({dtype_of<typename T::value_type>, {static_cast<std::int64_t>(record.size())}});
  } else {
    using Number = typename InnermostOf<T>::type;
    static_assert(require_tensor_element<Number>());
    Shape shape;
    append_dims<T>(shape);
    types.push_back({dtype_of<Number>, shape});
  }
}

[[noreturn]] void throw_other_length(std::size_t got, const Tensor& column);
// Throws invalid_argument unless the column has `rows` rows of so many elements of the type.
void check_column(const Tensor& column, std::size_t rows, DType dtype, std::size_t elements);

// Throws invalid_argument for a tensor of another type than the column's rows.
void set_row(Tensor& column, std::size_t row, const Tensor& value);
// Throws invalid_argument unless the column has so many rows.
Tensor row_of(const Tensor& column, std::size_t row, std::size_t rows);

// Sets a row of the columns from `column` on, and passes over them.
template <class T>
void write_row(const T& record, std::size_t row, Tensor*& column) {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::fields) {
    visit_fields(record, [&](const auto&... field) { (write_row(field, row, column), ...); });
  } else if constexpr (std::is_same_v<T, Tensor>) {
    set_row(*column++, row, record);
  } else if constexpr (kind == RecordKind::text) {
    (column++)->mutable_values<std::string>()[row] = record;
  } else if constexpr (kind == RecordKind::vector) {
    if (record.size() != static_cast<std::size_t>(column->shape()[1]))
      throw_other_length(record.size(), *column);
    auto values = (column++)->mutable_values<typename T::value_type>();
    std::ranges::copy(record, values.begin() + static_cast<std::ptrdiff_t>(row * record.size()));
  } else {
    std::memcpy(static_cast<std::byte*>((column++)->mutable_data()) + row * sizeof(T), &record,
                sizeof(T));
  }
}

// A row of the columns from `column` on, of which each has `rows`.
template <class T>
T read_row(std::size_t row, std::size_t rows, const Tensor*& column);

template <class T, class... F>
T read_fields(std::size_t row, std::size_t rows, const Tensor*& column, Types<F...>) {
  return T{read_row<F>(row, rows, column)...};  // braces are evaluated from left to right
}

template <class T>
T read_row(std::size_t row, std::size_t rows, const Tensor*& column) {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::fields) {
    return read_fields<T>(row, rows, column, FieldTypes<T>());
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return row_of(*column++, row, rows);
  } else if constexpr (kind == RecordKind::text) {
    check_column(*column, rows, DType::string, 1);
    return T((column++)->values<std::string>()[row]);
  } else if constexpr (kind == RecordKind::vector) {
    using Number = typename T::value_type;
    const std::size_t elements = static_cast<std::size_t>(column->elements()) / rows;
    check_column(*column, rows, dtype_of<Number>, elements);
    const auto values = (column++)->values<Number>().subspan(row * elements, elements);
    return T(values.begin(), values.end());
  } else {
    using Number = typename InnermostOf<T>::type;
    static_assert(require_tensor_element<Number>());
    check_column(*column, rows, dtype_of<Number>, sizeof(T) / sizeof(Number));
    T record;
    std::memcpy(&record, static_cast<const std::byte*>((column++)->data()) + row * sizeof(T), sizeof(T));
    return record;
  }
}

template <class... F>
consteval std::size_t columns_of_fields(Types<F...>);
template <class T>
consteval std::size_t num_columns() {
  if constexpr (record_kind<T>() == RecordKind::fields)
    return columns_of_fields(FieldTypes<T>());
  else
    return 1;
}
template <class... F>
consteval std::size_t columns_of_fields(Types<F...>) {
  return (num_columns<F>() + ...);
}

void check_num_columns(std::size_t wanted, std::size_t got);

}  // namespace detail

// The records as rows. Throws invalid_argument for vectors of different lengths, and for tensors of
// different types. REQUIRES: one at least.
template <class T>
Tuple tensors_of(std::span<const T> records) {
  std::vector<TensorType> types;
  detail::append_types(records[0], types);
  Tuple columns;
  for (const TensorType& type : types) {
    Shape shape{static_cast<std::int64_t>(records.size())};
    for (const std::int64_t dim : type.shape.dims()) shape.push_back(dim);
    columns.push_back(Tensor::allocate(type.dtype, shape));
  }
  for (std::size_t row = 0; row < records.size(); ++row) {
    Tensor* column = columns.data();
    detail::write_row(records[row], row, column);
  }
  return columns;
}

// A record for each row. Throws invalid_argument, with both types, if the columns are not those of T.
template <class T>
std::vector<T> records_of(std::span<const Tensor> columns, std::size_t rows) {
  detail::check_num_columns(detail::num_columns<T>(), columns.size());
  std::vector<T> records;
  records.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const Tensor* column = columns.data();
    records.push_back(detail::read_row<T>(row, rows, column));
  }
  return records;
}

}  // namespace actorflow

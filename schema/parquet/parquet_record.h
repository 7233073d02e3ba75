// Rows of Parquet files as records.
//
// A number, a text or an optional of them is a column; pairs, tuples, arrays and structs are the columns
// of what they hold. An optional takes nulls, as none. A char takes a text of one byte.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "schema/parquet/parquet_file.h"
#include "schema/parquet/parquet_types.h"
#include "schema/records/columns.h"
#include "schema/records/record.h"

namespace actorflow {
namespace detail {

// A number or a text.
template <class T>
ParquetField parquet_scalar() {
  ParquetField field;
  field.layout = record_layout<T>();
  if constexpr (record_kind<T>() == RecordKind::text || std::is_same_v<T, char>) {
    field.form = ParquetForm::text;
  } else {
    using Value = Number<T>;
    constexpr bool is_real = std::is_floating_point_v<Value>;
    field.form = is_real ? ParquetForm::real : ParquetForm::integer;
    field.bits = std::numeric_limits<Value>::digits + (!is_real && std::is_signed_v<Value>);
    field.is_signed = std::is_signed_v<Value>;
  }
  return field;
}

template <class T>
void append_parquet_fields(std::vector<ParquetField>& fields);

template <class... F>
void append_each_field(std::vector<ParquetField>& fields, Types<F...>) {
  (append_parquet_fields<F>(fields), ...);
}

template <class T>
void append_parquet_fields(std::vector<ParquetField>& fields) {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::fields) {
    append_each_field(fields, FieldTypes<T>());
  } else if constexpr (kind == RecordKind::array) {
    for (std::size_t i = 0; i < std::tuple_size_v<T>; ++i)
      append_parquet_fields<typename T::value_type>(fields);
  } else if constexpr (kind == RecordKind::optional) {
    using Value = typename T::value_type;
    static_assert(record_kind<Value>() == RecordKind::number || record_kind<Value>() == RecordKind::text,
                  "in a row of a Parquet file, an optional is of a number or a text: one column");
    fields.push_back(parquet_scalar<Value>());
    fields.back().layout = record_layout<T>();
    fields.back().is_optional = true;
  } else {
    static_assert(kind == RecordKind::number || kind == RecordKind::text,
                  "a row of a Parquet file has columns of numbers and texts only");
    fields.push_back(parquet_scalar<T>());
  }
}

// Throws invalid_argument: the column, from 0 on, is null in this row.
[[noreturn, gnu::cold]] void throw_null(std::size_t column, const std::string& layout);
[[noreturn, gnu::cold]] void throw_no_char(std::size_t column, std::string_view text);

// Takes the values of a row, one after the other.
class ParquetRow {
 public:
  ParquetRow(std::span<const ParquetValues> values, std::size_t row) : values_(values), row_(row) {}

  template <class T>
  T take_column() {
    if constexpr (record_kind<T>() == RecordKind::optional) {
      if (!is_null()) return T(take_value<typename T::value_type>());
      ++column_;
      return T();
    } else {
      if (is_null()) throw_null(column_, record_layout<T>());
      return take_value<T>();
    }
  }

 private:
  bool is_null() const {
    const std::uint8_t* const present = values_[column_].present;
    return present && present[row_] == 0;
  }

  template <class T>
  T take_value() {
    const ParquetValues& values = values_[column_];
    if constexpr (record_kind<T>() == RecordKind::text) {
      ++column_;
      return T(values.texts[row_]);
    } else if constexpr (std::is_same_v<T, char>) {
      const std::string_view text = values.texts[row_];
      if (text.size() != 1) throw_no_char(column_, text);
      ++column_;
      return text[0];
    } else {
      ++column_;
      if constexpr (std::is_floating_point_v<Number<T>>)
        return static_cast<T>(values.reals[row_]);
      else
        return static_cast<T>(values.integers[row_]);
    }
  }

  std::span<const ParquetValues> values_;
  std::size_t row_;
  std::size_t column_ = 0;  // the next one
};

}  // namespace detail

// The columns of T.
template <Record T>
std::vector<ParquetField> parquet_fields() {
  std::vector<ParquetField> fields;
  detail::append_parquet_fields<T>(fields);
  return fields;
}

// The record of a row; std::string_views in it live as long as the values. Throws invalid_argument
// naming the column, from 1, that is null where T has no optional.
template <Record T>
T parse_parquet(std::span<const ParquetValues> values, std::size_t row) {
  detail::ParquetRow columns(values, row);
  return detail::take_columns<T>(columns);
}

}  // namespace actorflow

// Records as the columns of a row group: what parquet_record.h reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "schema/parquet/parquet_record.h"
#include "schema/records/record.h"

namespace actorflow {

// The values of a column that is written, row by row.
class ParquetColumnBuffer {
 public:
  explicit ParquetColumnBuffer(const ParquetField& field) : field_(field) {}

  void append(std::int64_t value) { integers_.push_back(value); }
  void append(double value) { reals_.push_back(value); }
  void append(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  // For an optional field: says whether the row has a value. Append a value afterwards in any case.
  void append_present(bool is_present) { present_.push_back(is_present); }

  std::size_t bytes() const {
    return 8 * (integers_.size() + reals_.size() + 2 * ends_.size()) + bytes_.size() + present_.size();
  }
  // Valid until the next append() or clear().
  ParquetValues values();
  void clear();

 private:
  ParquetField field_;
  std::vector<std::int64_t> integers_;
  std::vector<double> reals_;
  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> texts_;
  std::vector<std::uint8_t> present_;
};

// Rows of records of T, as parquet_fields<T>() says.
template <Record T>
class ParquetRowBuffer {
 public:
  ParquetRowBuffer() {
    for (const auto& field : parquet_fields<T>()) columns_.emplace_back(field);
  }

  void append(const T& record) {
    auto* column = columns_.data();
    append_fields(record, column);
    ++rows_;
  }
  std::size_t rows() const { return rows_; }
  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const auto& column : columns_) bytes += column.bytes();
    return bytes;
  }
  // Valid until the next append() or clear().
  std::vector<ParquetValues> values() {
    std::vector<ParquetValues> values;
    for (auto& column : columns_) values.push_back(column.values());
    return values;
  }
  void clear() {
    for (auto& column : columns_) column.clear();
    rows_ = 0;
  }

 private:
  template <class V>
  static void append_fields(const V& value, ParquetColumnBuffer*& column) {
    constexpr detail::RecordKind kind = detail::record_kind<V>();
    if constexpr (kind == detail::RecordKind::fields) {
      detail::visit_fields(value, [&](const auto&... field) { (append_fields(field, column), ...); });
    } else if constexpr (kind == detail::RecordKind::array) {
      for (const typename V::value_type& element : value) append_fields(element, column);
    } else if constexpr (kind == detail::RecordKind::optional) {
      column->append_present(value.has_value());
      append_value(value ? *value : typename V::value_type(), *column++);
    } else {
      append_value(value, *column++);
    }
  }
  template <class V>
  static void append_value(const V& value, ParquetColumnBuffer& column) {
    if constexpr (detail::record_kind<V>() == detail::RecordKind::text)
      column.append(std::string_view(value));
    else if constexpr (std::is_same_v<V, char>)
      column.append(std::string_view(&value, 1));
    else if constexpr (std::is_floating_point_v<detail::Number<V>>)
      column.append(static_cast<double>(value));
    else
      column.append(static_cast<std::int64_t>(value));
  }

  std::vector<ParquetColumnBuffer> columns_;
  std::size_t rows_ = 0;
};

}  // namespace actorflow

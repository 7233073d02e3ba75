// Records as rows of CSV (RFC 4180), and rows as records.
//
// A number, a text or an optional of them is a column, and so is a vector of them, whose elements are
// joined by spaces, texts and chars in quotes where they are empty, have a space or begin with a quote;
// pairs, tuples, arrays and structs are the columns of what they hold. An optional without a value is an
// empty field, and an empty field of an optional is none.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "schema/records/columns.h"
#include "schema/records/csv_field.h"
#include "schema/records/record.h"

namespace actorflow {
namespace detail {

template <class T>
consteval std::size_t csv_columns() {
  constexpr RecordKind kind = record_kind<T>();
  static_assert(kind != RecordKind::own,
                "a row of CSV has no column for a Tensor, a CapnpRecord, a Float16 or a BFloat16: take "
                "numbers or texts out of them");
  if constexpr (kind == RecordKind::fields) {
    return []<class... F>(Types<F...>) { return (csv_columns<F>() + ...); }(FieldTypes<T>());
  } else if constexpr (kind == RecordKind::array) {
    return std::tuple_size_v<T> * csv_columns<typename T::value_type>();
  } else if constexpr (kind == RecordKind::optional || kind == RecordKind::vector) {
    constexpr RecordKind inner = record_kind<typename T::value_type>();
    static_assert(inner == RecordKind::number || inner == RecordKind::text,
                  "in a row of CSV, an optional or a vector is of numbers or texts: one column");
    return 1;
  } else {
    return 1;
  }
}

// Appends columns to a line.
class CsvAppender {
 public:
  CsvAppender(std::string& line, char delimiter) : line_(line), delimiter_(delimiter) {}

  template <class T>
  void append(const T& value) {
    constexpr RecordKind kind = record_kind<T>();
    if constexpr (kind == RecordKind::fields) {
      visit_fields(value, [this](const auto&... field) { (append(field), ...); });
    } else if constexpr (kind == RecordKind::array) {
      for (const typename T::value_type& element : value) append(element);
    } else {
      if (!first_) line_ += delimiter_;
      first_ = false;
      append_column(value);
    }
  }

 private:
  template <class T>
  void append_column(const T& value) {
    constexpr RecordKind kind = record_kind<T>();
    if constexpr (kind == RecordKind::optional) {
      if (value) append_column(*value);
    } else if constexpr (kind == RecordKind::vector) {
      joined_.clear();
      for (const typename T::value_type& element : value) {
        append_element(element);
        joined_ += ' ';
      }
      if (!joined_.empty()) joined_.pop_back();
      append_csv_text(joined_, line_, delimiter_);
    } else if constexpr (kind == RecordKind::text) {
      append_csv_text(value, line_, delimiter_);
    } else if constexpr (std::is_same_v<Number<T>, char>) {
      const char letter = static_cast<char>(value);
      append_csv_text({&letter, 1}, line_, delimiter_);
    } else {
      append_csv_value(value, line_);
    }
  }

  // Of a vector.
  template <class T>
  void append_element(const T& element) {
    if constexpr (std::is_same_v<Number<T>, char>) {
      const char letter = static_cast<char>(element);
      append_quoted_word({&letter, 1}, joined_);
    } else if constexpr (record_kind<T>() == RecordKind::text) {
      append_quoted_word(element, joined_);
    } else {
      append_csv_value(element, joined_);
    }
  }

  std::string& line_;
  std::string joined_;
  char delimiter_;
  bool first_ = true;
};

// Takes the columns of a row one after the other.
class CsvColumns {
 public:
  explicit CsvColumns(std::span<const std::string_view> fields) : fields_(fields) {}

  template <class T>
  T take_column() {
    return parse_column<T>(fields_[column_++]);
  }

 private:
  template <class T>
  T parse_column(std::string_view text) const {
    constexpr RecordKind kind = record_kind<T>();
    if constexpr (kind == RecordKind::optional) {
      return text.empty() ? T() : T(parse_column<typename T::value_type>(text));
    } else if constexpr (kind == RecordKind::vector) {
      using Element = typename T::value_type;
      T elements;
      if constexpr (record_kind<Element>() == RecordKind::text || std::is_same_v<Number<Element>, char>)
        for (QuotedWord word; take_quoted_word(text, word);)
          elements.push_back(parse_word<Element>(word));
      else
        for (std::string_view word; take_word(text, word);)
          elements.push_back(parse_column<Element>(word));
      return elements;
    } else {
      T value{};
      if (!parse_csv_value(text, value)) throw_bad_column(column_, record_layout<T>(), text);
      return value;
    }
  }

  template <class T>
  T parse_word(const QuotedWord& word) const {
    if (!word.has_doubled_quotes) return parse_column<T>(word.text);
    if constexpr (std::is_same_v<T, std::string_view>)
      throw_doubled_quotes(column_, word.text);
    else
      return parse_column<T>(undoubled(word.text));
  }

  std::span<const std::string_view> fields_;
  std::size_t column_ = 0;  // the next one
};

}  // namespace detail

// Appends one row, without an end of line. Texts and chars are quoted where they must be; floating-point
// numbers have as few digits as bring back the same value. The delimiter is nothing that numbers are
// written with.
template <Record T>
void append_csv(const T& record, std::string& line_buffer, char delimiter = ',') {
  static_assert(detail::csv_columns<T>() > 0);
  const std::size_t begin = line_buffer.size();
  detail::CsvAppender(line_buffer, delimiter).append(record);
  if (line_buffer.size() == begin) line_buffer += "\"\"";  // an empty line would be no row
}

// The record of a row's fields (CsvSplitter); std::string_views in it point into them. Throws
// invalid_argument naming the column, from 1, what was expected and the text.
template <Record T>
T parse_csv(std::span<const std::string_view> fields) {
  if (fields.size() != detail::csv_columns<T>())
    detail::throw_bad_row(detail::csv_columns<T>(), record_layout<T>(), fields.size());
  detail::CsvColumns columns(fields);
  return detail::take_columns<T>(columns);
}

}  // namespace actorflow

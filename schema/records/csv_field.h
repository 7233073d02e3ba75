// Fields of CSV: a line cut into them, and numbers and texts in them.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace actorflow {

// The first line of a file without the mark with which Excel begins UTF-8.
std::string_view without_byte_order_mark(std::string_view line);

// Cuts lines into their fields. Copies only lines with quotes. Not thread-safe.
class CsvSplitter {
 public:
  explicit CsvSplitter(char delimiter = ',') : delimiter_(delimiter) {}

  // The fields of a line without its end, one at least; valid until the next call and while the line
  // lives. Throws invalid_argument naming the column, from 1, for a quote where none may be, and for one
  // that is not closed: a line break within quotes is not supported here.
  std::span<const std::string_view> split(std::string_view line);

 private:
  void split_quoted(std::string_view line);
  std::size_t unquote(std::string_view line, std::size_t at);

  char delimiter_;
  std::vector<std::string_view> fields_;
  std::string unquoted_;
};

namespace detail {

std::string_view trimmed(std::string_view text);  // of spaces and tabs
// False if no word is left. Words are separated by single spaces.
bool take_word(std::string_view& text, std::string_view& word);

// A word of a list of texts: in quotes if it is empty, has a space or begins with a quote.
struct QuotedWord {
  std::string_view text;  // between its quotes, if it has some
  bool has_doubled_quotes = false;
};
bool take_quoted_word(std::string_view& list, QuotedWord& word);
// With each doubled quote as one.
std::string undoubled(std::string_view text);
void append_quoted_word(std::string_view word, std::string& list);

bool parse_bool(std::string_view text, bool& value);
void append_csv_text(std::string_view text, std::string& line, char delimiter);

// "column 3: expected float64, got 'x'"
[[noreturn, gnu::cold]] void throw_bad_column(std::size_t column, const std::string& layout,
                                              std::string_view text);
// "column 3: ...": of a word whose text is nowhere as it is.
[[noreturn, gnu::cold]] void throw_doubled_quotes(std::size_t column, std::string_view word);
[[noreturn, gnu::cold]] void throw_bad_row(std::size_t columns, const std::string& layout,
                                           std::size_t got);

// False if the text is no T. A char is one character, no number; bool is true, True, TRUE, 1 or the
// opposite.
template <class T>
bool parse_csv_value(std::string_view text, T& value) {
  if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> number{};
    const bool fits = parse_csv_value(text, number);
    value = static_cast<T>(number);
    return fits;
  } else if constexpr (std::is_same_v<T, bool>) {
    return parse_bool(text, value);
  } else if constexpr (std::is_same_v<T, char>) {
    if (text.size() == 1) value = text[0];
    return text.size() == 1;
  } else if constexpr (std::is_arithmetic_v<T>) {
    text = trimmed(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  } else {
    value = T(text);
    return true;
  }
}

template <class T>
void append_csv_value(const T& value, std::string& line) {
  if constexpr (std::is_enum_v<T>) {
    append_csv_value(static_cast<std::underlying_type_t<T>>(value), line);
  } else if constexpr (std::is_same_v<T, bool>) {
    line += value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, char>) {
    char digits[32];
    line.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  } else {
    line += value;
  }
}

}  // namespace detail
}  // namespace actorflow

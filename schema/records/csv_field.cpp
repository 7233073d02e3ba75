#include "schema/records/csv_field.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::string in_column(std::size_t column) { return "column " + std::to_string(column) + ": "; }

}  // namespace

std::string_view without_byte_order_mark(std::string_view line) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return line.starts_with(mark) ? line.substr(mark.size()) : line;
}

std::span<const std::string_view> CsvSplitter::split(std::string_view line) {
  fields_.clear();
  if (line.find('"') != std::string_view::npos) {
    split_quoted(line);
    return fields_;
  }
  std::size_t begin = 0, end = 0;
  for (; (end = line.find(delimiter_, begin)) != std::string_view::npos; begin = end + 1)
    fields_.push_back(line.substr(begin, end - begin));
  fields_.push_back(line.substr(begin));
  return fields_;
}

void CsvSplitter::split_quoted(std::string_view line) {
  unquoted_.clear();
  unquoted_.reserve(line.size());  // what points into it stays valid
  for (std::size_t at = 0;; ++at) {
    if (at < line.size() && line[at] == '"') {
      at = unquote(line, at + 1);
    } else {
      const std::size_t end = std::min(line.find(delimiter_, at), line.size());
      fields_.push_back(line.substr(at, end - at));
      at = end;
      if (fields_.back().find('"') != std::string_view::npos)
        throw invalid_argument(in_column(fields_.size()) +
                               "a quote within a field that begins without one: '" +
                               std::string(fields_.back().substr(0, 100)) + "'");
    }
    if (at == line.size()) return;
    if (line[at] != delimiter_)
      throw invalid_argument(in_column(fields_.size()) + "expected the next field after a quote, got '" +
                             std::string(line.substr(at, 100)) + "'");
  }
}

// Adds the field that begins after a quote; returns where it ends, after its other quote.
std::size_t CsvSplitter::unquote(std::string_view line, std::size_t at) {
  const std::size_t begin = unquoted_.size();
  while (true) {
    const std::size_t quote = line.find('"', at);
    if (quote == std::string_view::npos)
      throw invalid_argument(
          in_column(fields_.size() + 1) +
          "a quote is not closed in its line; line breaks within quotes are not supported");
    unquoted_.append(line, at, quote - at);
    at = quote + 1;
    if (at == line.size() || line[at] != '"') break;
    unquoted_ += '"';
    ++at;
  }
  fields_.push_back(std::string_view(unquoted_).substr(begin));
  return at;
}

namespace detail {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

bool take_word(std::string_view& text, std::string_view& word) {
  if (text.empty()) return false;
  const std::size_t end = std::min(text.find(' '), text.size());
  word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

bool parse_bool(std::string_view text, bool& value) {
  text = trimmed(text);
  value = text == "1" || text == "true" || text == "True" || text == "TRUE";
  return value || text == "0" || text == "false" || text == "False" || text == "FALSE";
}

void append_csv_text(std::string_view text, std::string& line, char delimiter) {
  // One scan for each of the characters is far faster than one for all of them.
  const bool is_plain = std::ranges::none_of(std::array{delimiter, '"', '\r', '\n'},
                                             [text](char c) { return text.find(c) != text.npos; });
  if (is_plain) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

void throw_bad_column(std::size_t column, const std::string& layout, std::string_view text) {
  throw invalid_argument(in_column(column) + "expected " + layout + ", got '" +
                         std::string(text.substr(0, 100)) + "'");
}

void throw_bad_row(std::size_t columns, const std::string& layout, std::size_t got) {
  throw invalid_argument("expected a row of " + std::to_string(columns) + " columns for " + layout +
                         ", got " + std::to_string(got));
}

}  // namespace detail
}  // namespace actorflow

#include "schema/records/csv_field.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "dataflow/values/error.h"
#include "schema/records/excerpt.h"

namespace actorflow {
namespace {

std::string in_column(std::size_t column) { return "column " + std::to_string(column) + ": "; }

// Doubles quotes.
void append_in_quotes(std::string_view text, std::string& to) {
  to += '"';
  for (const char c : text) to.append(c == '"' ? 2 : 1, c);
  to += '"';
}

// The other quote of a word that begins with one; npos if the word does not end there.
std::size_t closing_quote(std::string_view list) {
  for (std::size_t at = 1; (at = list.find('"', at)) != list.npos; at += 2)
    if (at + 1 == list.size() || list[at + 1] != '"')
      return at + 1 == list.size() || list[at + 1] == ' ' ? at : list.npos;
  return list.npos;
}

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
                               excerpt(fields_.back()) + "'");
    }
    if (at == line.size()) return;
    if (line[at] != delimiter_)
      throw invalid_argument(in_column(fields_.size()) + "expected the next field after a quote, got '" +
                             excerpt(line.substr(at)) + "'");
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
          "a quote is not closed in its line; line breaks within quotes are read only where "
          "CsvInput::line_breaks is true");
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

bool take_quoted_word(std::string_view& list, QuotedWord& word) {
  const std::size_t end = list.starts_with('"') ? closing_quote(list) : list.npos;
  word.has_doubled_quotes = false;
  if (end == list.npos) return take_word(list, word.text);
  word.text = list.substr(1, end - 1);
  word.has_doubled_quotes = word.text.find('"') != word.text.npos;
  list.remove_prefix(std::min(end + 2, list.size()));
  return true;
}

std::string undoubled(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size(); ++at) {
    all += text[at];
    if (text[at] == '"') ++at;
  }
  return all;
}

void append_quoted_word(std::string_view word, std::string& list) {
  if (word.empty() || word.starts_with('"') || word.find(' ') != word.npos)
    append_in_quotes(word, list);
  else
    list += word;
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
  append_in_quotes(text, line);
}

void throw_bad_column(std::size_t column, const std::string& layout, std::string_view text) {
  throw invalid_argument(in_column(column) + "expected " + layout + ", got '" + excerpt(text) + "'");
}

void throw_doubled_quotes(std::size_t column, std::string_view word) {
  throw invalid_argument(in_column(column) +
                         "a text with quotes in a list, which are doubled: read it as std::string, no "
                         "std::string_view; got '" +
                         excerpt(word) + "'");
}

void throw_bad_row(std::size_t columns, const std::string& layout, std::size_t got) {
  throw invalid_argument("expected a row of " + std::to_string(columns) + " columns for " + layout +
                         ", got " + std::to_string(got));
}

}  // namespace detail
}  // namespace actorflow

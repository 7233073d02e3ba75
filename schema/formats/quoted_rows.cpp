#include "schema/formats/quoted_rows.h"

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::string_view without_return(std::string_view row) {
  return row.ends_with('\r') ? row.substr(0, row.size() - 1) : row;
}

}  // namespace

std::optional<std::string_view> QuotedRows::next(std::string_view& text) {
  if (is_whole_) row_.clear();
  is_whole_ = false;
  bool is_quoted = !row_.empty();
  std::size_t at = 0;
  for (; (at = text.find_first_of("\"\n", at)) != text.npos; ++at) {
    if (text[at] == '"')
      is_quoted = !is_quoted;
    else if (!is_quoted)
      break;
  }
  const std::string_view lines = text.substr(0, at);
  text.remove_prefix(std::min(lines.size() + 1, text.size()));
  if (!is_quoted && row_.empty()) return without_return(lines);
  row_ += lines;
  if (row_.size() > max_row_bytes_)
    throw invalid_argument("a row of CSV has " + std::to_string(row_.size()) +
                           " bytes or more, above the limit of " + std::to_string(max_row_bytes_) +
                           ": are all of its quotes closed?");
  is_whole_ = !is_quoted;
  if (is_quoted) return std::nullopt;
  return without_return(row_);
}

}  // namespace actorflow

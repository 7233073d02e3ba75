// Rows of CSV whose quoted fields have line breaks, out of runs of lines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace actorflow {

// Joins the lines of each row. Counts quotes: a quote in a field that begins without one, which is no
// CSV, begins a quoted part here, too. Not thread-safe.
class QuotedRows {
 public:
  // `max_row_bytes`: of a row that several calls of next() bring.
  explicit QuotedRows(std::size_t max_row_bytes) : max_row_bytes_(max_row_bytes) {}

  // Takes the next row from `text`, which are whole lines that follow those given before: its bytes
  // without its end, valid until the next call. Nothing if `text` ends within quotes: the row is kept,
  // and goes on in the next text. Throws invalid_argument for a row that is kept above the limit.
  std::optional<std::string_view> next(std::string_view& text);
  // True within a row whose end has not come.
  bool is_in_row() const { return !row_.empty() && !is_whole_; }

 private:
  const std::size_t max_row_bytes_;
  std::string row_;  // empty, or the last one that several texts have brought
  bool is_whole_ = false;
};

}  // namespace actorflow

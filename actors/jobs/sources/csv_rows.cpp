#include "schema/formats/quoted_rows.h"

#include <optional>
#include <string>

#include "actors/jobs/sources/sources.h"

namespace actorflow {
namespace {

std::string place_of(const OpenSplit& from, std::uint64_t offset) {
  return "'" + from.file.path + "' at byte " + std::to_string(offset) + ": ";
}

// The next row, which began at the file's `offset`.
std::optional<std::string_view> next_row(QuotedRows& rows, std::string_view& text, const OpenSplit& from,
                                         std::uint64_t offset) {
  try {
    return rows.next(text);
  } catch (const Error& error) {
    const bool is_for_memory = from.part.most_record_bytes() < LineLimits().max_line_bytes;
    throw Error(error.code(), place_of(from, offset) + error.what() +
                                  (is_for_memory ? " If so, give more --memory" : ""));
  }
}

}  // namespace

void read_csv_rows(const OpenSplit& from, const std::function<void(std::string_view row)>& next) {
  const LineLimits limits = TextFormat::limits_of(from.part);
  LineBlocks blocks(from.open(), from.split, limits);
  QuotedRows rows(limits.max_line_bytes);
  std::string_view row, text;
  std::uint64_t offset = 0;  // of the row
  try {
    while (!(text = blocks.next()).empty()) {
      from.passed(blocks.offset(), 0, 0);
      std::uint64_t count = 0;
      for (std::string_view left = text; !left.empty();) {
        if (!rows.is_in_row())
          offset = blocks.offset() + static_cast<std::uint64_t>(left.data() - text.data());
        const auto found = next_row(rows, left, from, offset);
        if (!found) break;
        row = *found;
        ++count;
        from.part.feed([&] { next(row); });
      }
      from.passed(blocks.offset(), text.size(), count);
    }
  } catch (const OperatorFailure& failure) {
    from.fail(failure, offset, row);
  }
  if (rows.is_in_row())
    throw invalid_argument(place_of(from, offset) + "a quote of this row is not closed");
}

}  // namespace actorflow

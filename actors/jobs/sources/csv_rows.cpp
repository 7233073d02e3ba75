#include "schema/formats/quoted_rows.h"

#include "actors/jobs/sources/sources.h"

namespace actorflow {

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
        const auto found = rows.next(left);
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
    throw invalid_argument("'" + from.file.path + "': in the row at byte " + std::to_string(offset) +
                           " a quote is not closed");
}

}  // namespace actorflow

#include "actors/jobs/sources/csv_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "actors/input/file_source.h"
#include "dataflow/values/error.h"
#include "dataflow/values/spelling.h"
#include "schema/formats/line_blocks.h"
#include "schema/records/csv_field.h"
#include "schema/records/excerpt.h"

namespace actorflow {
namespace {

using Names = std::vector<std::string>;

// As much of a header as a message may have.
std::string shown(const Names& header) {
  return excerpt(fmt::format("{}", fmt::join(header, ",")), 1000);
}

// None of a file without a line.
Names header_of(Storage& storage, const std::string& path, char delimiter) {
  LineBlocks blocks(open_data_file(storage, path, compression_of(path)));
  const std::string_view text = without_byte_order_mark(blocks.next());
  if (text.empty()) return {};
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty())
    throw invalid_argument(fmt::format(
        "'{}' begins with an empty line: expected its header there, or CsvInput::header = false", path));
  if (std::ranges::count(line, '"') % 2 != 0)
    throw invalid_argument(
        fmt::format("the header of '{}': a quote is not closed in its line: expected names without line "
                    "breaks, whatever CsvInput::line_breaks says of rows",
                    path));
  CsvSplitter splitter(delimiter);
  try {
    const auto names = splitter.split(line);
    return {names.begin(), names.end()};
  } catch (const Error& error) {
    throw invalid_argument(fmt::format("the header of '{}': {}", path, error.what()));
  }
}

CsvFile places_in(const std::string& path, const Names& header, const Names& columns) {
  CsvFile file{.columns = header.size(), .places = {}};
  for (const auto& name : columns) {
    const auto found = std::ranges::find(header, name);
    if (found == header.end() || std::find(found + 1, header.end(), name) != header.end())
      throw invalid_argument(
          fmt::format("'{}' has {} column '{}': its header is '{}'{}", path,
                      found == header.end() ? "no" : "more than one", name, shown(header),
                      did_you_mean(name, std::vector<std::string_view>(header.begin(), header.end()))));
    file.places.push_back(static_cast<std::size_t>(found - header.begin()));
  }
  return file;
}

}  // namespace

std::shared_ptr<const CsvFiles> match_headers(Storage& storage, std::span<const FileSize> files,
                                              const CsvInput& input) {
  if (!input.header && !input.columns.empty())
    throw invalid_argument("read_csv: columns are found by the header: set CsvInput::header, too");
  auto matched = std::make_shared<CsvFiles>();
  if (!input.header) return matched;
  Names first;
  std::string first_path;
  for (const auto& file : files) {
    const Names header = header_of(storage, file.path, input.delimiter);
    matched->push_back(header.empty() ? CsvFile() : places_in(file.path, header, input.columns));
    if (header.empty() || !input.columns.empty()) continue;
    if (first.empty()) first = header, first_path = file.path;
    if (header != first)
      throw invalid_argument(
          fmt::format("'{}' has the header '{}', but '{}' has '{}': name the columns that "
                      "are wanted, in CsvInput::columns, or read the files apart",
                      first_path, shown(first), file.path, shown(header)));
  }
  return matched;
}

std::span<const std::string_view> choose_columns(const CsvFile& file,
                                                 std::span<const std::string_view> row,
                                                 std::vector<std::string_view>& chosen) {
  if (file.places.empty()) return row;
  if (row.size() != file.columns)
    throw invalid_argument(fmt::format("expected a row of {} columns, as the header has, got {}",
                                       file.columns, row.size()));
  chosen.clear();
  for (const std::size_t place : file.places) chosen.push_back(row[place]);
  return chosen;
}

}  // namespace actorflow

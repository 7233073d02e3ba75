#include "actors/jobs/parquet/parquet_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t most_rows = 4096;
// Of a sample, from each row group that has many more rows.
constexpr std::uint64_t pieces = 16, piece_rows = 128;
// So many splits in one row group are warned of.
constexpr std::uint64_t many_splits = 4;

std::unique_ptr<ParquetFile> open(Storage& storage, const FileSize& was, std::uint64_t most_memory) {
  std::shared_ptr<OpenFile> file = storage.open(was.path);
  const std::uint64_t size = file->size_bytes();
  expect_not_cut(was, size);
  const auto read = [file](std::uint64_t offset, std::span<std::byte> into) {
    file->read(offset, into);
  };
  return open_parquet({was.path, size, read, most_memory});
}

std::vector<std::string> first_names(const std::string& path, const std::vector<ParquetColumn>& columns,
                                     std::size_t count) {
  if (columns.size() < count)
    throw invalid_argument(fmt::format("'{}' has {} columns; the job's records have {} fields", path,
                                       columns.size(), count));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(columns[i].name);
  return names;
}

// What whole numbers of a column count: days, a unit of time, or nothing. A field takes any.
std::string unit_of(const ParquetColumn& column) {
  return column.kind == ParquetColumn::Kind::date || column.kind == ParquetColumn::Kind::time
             ? column.type
             : "";
}

// Holds that files count the same in columns of one name that are read as whole numbers.
class Units {
 public:
  void expect_same(const std::string& path, const ParquetColumn& column, const ParquetField& field) {
    if (field.form != ParquetForm::integer) return;
    const auto [place, is_first] = first_.try_emplace(column.name, path, column);
    const auto& [first_path, first] = place->second;
    if (!is_first && unit_of(first) != unit_of(column))
      throw invalid_argument(
          fmt::format("the column '{}' is of the type {} in '{}', and {} in '{}': files that are read "
                      "together have one unit",
                      column.name, first.type, first_path, column.type, path));
  }

 private:
  std::map<std::string, std::pair<std::string, ParquetColumn>> first_;  // of a name: its file
};

std::string value_text(const ParquetColumn& column, const ParquetValues& values, std::size_t row) {
  if (values.present && values.present[row] == 0) return "null";
  if (values.texts) return std::string(values.texts[row]);
  if (values.reals) return fmt::format("{}", values.reals[row]);
  if (column.is_signed) return fmt::format("{}", values.integers[row]);
  return fmt::format("{}", static_cast<std::uint64_t>(values.integers[row]));
}

std::uint64_t largest_group(const ParquetFile& file) {
  std::uint64_t largest = 0, end = file.bytes();
  const auto& groups = file.row_groups();
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    largest = std::max(largest, end - group->begin);
    end = group->begin;
  }
  return largest;
}

}  // namespace

std::shared_ptr<const ParquetTable> check_parquet(Storage& storage, std::span<const FileSize> files,
                                                  std::vector<std::string> names,
                                                  std::vector<ParquetField> fields,
                                                  std::uint64_t split_bytes, std::uint64_t most_memory) {
  if (!names.empty() && names.size() != fields.size())
    throw invalid_argument(
        fmt::format("read_parquet: expected the names of {} columns, one for each "
                    "field of the records, got {}",
                    fields.size(), names.size()));
  auto table = std::make_shared<ParquetTable>(ParquetTable{std::move(names), std::move(fields), {}});
  Units units;
  std::uint64_t largest = many_splits * split_bytes;
  for (const auto& each : files) {
    const std::string& path = each.path;
    const auto file = open(storage, each, most_memory);
    const auto& columns = file->columns();
    if (table->names.empty()) table->names = first_names(path, columns, table->fields.size());
    const auto numbers = match_columns(path, columns, table->names, table->fields);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      units.expect_same(path, columns[numbers[i]], table->fields[i]);
    const std::uint64_t group = largest_group(*file);
    if (group <= largest) continue;
    largest = group;
    table->warning = fmt::format(
        "'{}' has a row group of {:.1f} MB, which one thread reads: write files with smaller ones", path,
        static_cast<double>(group) / 1e6);
  }
  return table;
}

ParquetSplit::ParquetSplit(Storage& storage, const FileSize& file, const Split& split,
                           const ParquetTable& table, std::uint64_t most_memory, ParquetSample* sample)
    : split_(split), sample_(sample), file_(open(storage, file, most_memory)) {
  const auto numbers = match_columns(file.path, file_->columns(), table.names, table.fields);
  for (std::size_t i = 0; i < numbers.size(); ++i) wanted_.push_back({numbers[i], table.fields[i].form});
}

std::size_t ParquetSplit::next() {
  while (rows_ || open_group()) {
    shown_ = rows_->next(wanted_here());
    row_ += shown_;
    if (sample_) sample_->read += shown_;
    if (shown_ > 0) return shown_;
    rows_.reset();
    ++group_;
  }
  return 0;
}

// A group belongs to the split where it begins.
bool ParquetSplit::open_group() {
  const auto& groups = file_->row_groups();
  while (group_ < groups.size() && groups[group_].begin < split_.begin) ++group_;
  if (group_ == groups.size() || groups[group_].begin >= split_.end) return false;
  rows_ = file_->rows(group_, wanted_);
  row_ = 0;
  if (sample_) sample_->rows += groups[group_].rows;
  return true;
}

// How many rows to read next; those that a sample leaves out are passed over.
std::size_t ParquetSplit::wanted_here() {
  const std::uint64_t rows = file_->row_groups()[group_].rows, stride = rows / pieces;
  if (!sample_ || stride < 2 * piece_rows) return most_rows;
  if (const std::uint64_t within = row_ % stride; within < piece_rows)
    return static_cast<std::size_t>(piece_rows - within);
  const std::uint64_t next = std::min(rows, row_ - row_ % stride + stride);
  rows_->skip(next - row_);
  row_ = next;
  return piece_rows;
}

std::uint64_t ParquetSplit::offset_of(std::uint64_t row) const {
  const auto& groups = file_->row_groups();
  const std::uint64_t begin = groups[group_].begin;
  const std::uint64_t next = group_ + 1 < groups.size() ? groups[group_ + 1].begin : file_->bytes();
  const auto bytes = static_cast<double>(std::min(next, split_.end) - begin);
  const auto rows = static_cast<double>(groups[group_].rows);
  return begin + static_cast<std::uint64_t>(bytes * static_cast<double>(row) / rows);
}

std::uint64_t ParquetSplit::bytes() const {
  const auto rows = static_cast<double>(file_->row_groups()[group_].rows);
  return static_cast<std::uint64_t>(static_cast<double>(rows_->file_bytes()) *
                                    static_cast<double>(shown_) / rows);
}

std::string ParquetSplit::place_of(std::size_t row) const {
  return fmt::format("row {} of row group {}", row_ - shown_ + row, group_);
}

std::string ParquetSplit::text_of(std::size_t row) const {
  std::string text;
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    text += (i > 0 ? ", " : "") + value_text(file_->columns()[wanted_[i].column], values()[i], row);
  return text;
}

}  // namespace actorflow

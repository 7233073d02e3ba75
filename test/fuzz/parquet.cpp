// Parquet files, read by Arrow: all columns that fields take, of each row group, some rows of which are
// skipped. Where there is no Arrow the program says so and ends with 77.
#include "schema/parquet/parquet_file.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "test/fuzz/support/target.h"

using namespace actorflow;

namespace {

constexpr std::uint64_t most_memory = std::uint64_t{64} << 20;
constexpr std::size_t most_groups = 8, most_rows = std::size_t{1} << 14, rows_at_once = 100;
constexpr int skipped = 77;

volatile std::uint64_t sum_of_all;  // so that values are looked at

ParquetForm form_of(const ParquetColumn& column) {
  using Kind = ParquetColumn::Kind;
  if (column.kind == Kind::real) return ParquetForm::real;
  const bool is_text =
      column.kind == Kind::text || column.kind == Kind::date || column.kind == Kind::decimal;
  return is_text ? ParquetForm::text : ParquetForm::integer;
}

std::vector<ParquetWanted> all_of(const ParquetFile& file) {
  std::vector<ParquetWanted> wanted;
  for (std::size_t i = 0; i < file.columns().size(); ++i)
    if (const auto& column = file.columns()[i]; column.kind != ParquetColumn::Kind::other)
      wanted.push_back({i, form_of(column)});
  return wanted;
}

// Looks at every value, for sanitizers.
std::uint64_t sum_of(const ParquetValues& values, std::size_t rows) {
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (values.present && values.present[row] == 0) continue;
    if (values.texts)
      for (const char byte : values.texts[row]) sum += static_cast<unsigned char>(byte);
    else if (values.reals)
      sum += values.reals[row] > 0 ? 1 : 0;
    else
      sum += static_cast<std::uint64_t>(values.integers[row]);
  }
  return sum;
}

void read(ParquetFile& file, std::size_t skip) {
  const auto wanted = all_of(file);
  if (wanted.empty()) return;
  for (std::size_t group = 0; group < std::min(most_groups, file.row_groups().size()); ++group) {
    const auto rows = file.rows(group, wanted);
    std::uint64_t read = 0, sum = 0;
    for (std::size_t some = 1; some > 0 && read < most_rows; read += some) {
      some = rows->next(rows_at_once);
      for (const auto& values : rows->values()) sum += sum_of(values, some);
      if (skip > 0) rows->skip(skip);
    }
    fuzz::require(read <= file.row_groups()[group].rows, "a group has no more rows than it says");
    sum_of_all = sum;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!reads_parquet()) {
    std::puts("skipped: built without Arrow, so no Parquet file is read");
    std::exit(skipped);
  }
  auto input = fuzz::input(data, size);
  const std::size_t skip = fuzz::take<std::uint8_t>(input) % 8;
  const auto bytes = [input](std::uint64_t offset, std::span<std::byte> into) {
    fuzz::require(offset <= input.size() && into.size() <= input.size() - offset,
                  "nothing is read behind the end");
    std::memcpy(into.data(), input.data() + offset, into.size());
  };
  fuzz::accepts([&] { read(*open_parquet({"file", input.size(), bytes, most_memory}), skip); });
  return 0;
}

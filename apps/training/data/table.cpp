#include "apps/training/data/table.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "actors/input/rows.h"
#include "actors/runtime/storage.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::int64_t most_classes = 1'000'000;

const InputContext from_disk{&posix_storage(), nullptr};

struct FirstLines {
  std::string heading, row;
};

FirstLines first_lines(const std::string& path) {
  const Tuple lines = read_all(Dataset::lines({path}).take(2), from_disk);
  if (lines.empty() || rows_of(lines) < 2)
    throw Error(Code::data_loss, path + ": expected a heading and rows of numbers, but it has no rows");
  const auto text = lines[0].values<std::string>();
  return {text[0], text[1]};
}

// What is quoted has no commas here, since numbers are not quoted.
int columns_of(const std::string& path, const std::string& row) {
  const auto columns = static_cast<int>(std::ranges::count(row, ',')) + 1;
  if (columns < 2)
    throw Error(Code::data_loss, fmt::format("{}: expected two columns or more, of which the last is "
                                             "the class, but the first row is '{}'",
                                             path, row));
  return columns;
}

// Says that a first line is passed over that looks like a row.
void warn_of_row_as_heading(const std::string& path, const std::string& line) {
  if (line.find_first_not_of("0123456789+-.eE, \t\r") == line.npos)
    spdlog::warn("{}: the first line, '{}', is taken for the heading, not for a row", path, line);
}

void expect_finite(const std::string& path, const Tensor& measures) {
  const auto strange =
      std::ranges::count_if(measures.values<float>(), [](float value) { return !std::isfinite(value); });
  if (strange > 0)
    throw Error(Code::data_loss,
                fmt::format("{}: {} values are not finite, with which nothing can be learned; leave out "
                            "their rows, or put numbers in their places",
                            path, strange));
}

std::int64_t classes_of(const std::string& path, const Tensor& labels) {
  const auto [least, most] = std::ranges::minmax(labels.values<std::int64_t>());
  if (least < 0 || most < 1)
    throw Error(Code::data_loss, fmt::format("{}: expected classes from 0 on, and more than one, in the "
                                             "last column, but they are from {} to {}",
                                             path, least, most));
  if (most >= most_classes)
    throw Error(Code::data_loss, fmt::format("{}: the last column has the number {}, too large for a "
                                             "class: they are numbered from 0 on, below {}",
                                             path, most, most_classes));
  return most + 1;
}

}  // namespace

LabelledData load_table(const std::string& path) {
  const auto [heading, row] = first_lines(path);
  const int features = columns_of(path, row) - 1;
  warn_of_row_as_heading(path, heading);
  const Dataset rows =
      Dataset::csv({path}, {.components = {{DType::float32, 0, features}, {DType::int64, features}}})
          .shuffle({.seed = 1, .each_pass_anew = false});
  const Tuple all = read_all(rows, from_disk);
  const std::int64_t count = rows_of(all), train = count * 4 / 5;
  if (train < 1)
    throw Error(Code::data_loss, fmt::format("{}: {} row is too few to train and test on", path, count));
  expect_finite(path, all[0]);
  const LabelledTypes types{{DType::float32, {features}}, {}, classes_of(path, all[1]), {}};
  return labelled(LabelledRows{
      "rows", types, read_all(rows.take(train), from_disk), read_all(rows.skip(train), from_disk), {}});
}

}  // namespace actorflow

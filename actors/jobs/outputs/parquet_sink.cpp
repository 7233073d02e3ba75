#include "actors/jobs/outputs/parquet_sink.h"

#include <fmt/format.h>

#include <set>

#include "dataflow/values/error.h"

namespace actorflow {

std::vector<std::string> parquet_names(std::vector<std::string> names, std::size_t fields) {
  if (names.empty())
    for (std::size_t i = 1; i <= fields; ++i) names.push_back(fmt::format("column_{}", i));
  if (names.size() != fields)
    throw invalid_argument(fmt::format(
        "write_parquet: expected the names of {} columns, one for each field of the records, "
        "got {}",
        fields, names.size()));
  std::set<std::string> seen;
  for (const auto& name : names)
    if (!seen.insert(name).second)
      throw invalid_argument(
          fmt::format("write_parquet: two columns have the name '{}': give each its own", name));
  expect_parquet();
  return names;
}

void expect_parquet_texts(std::span<const ParquetValues> values, std::size_t rows,
                          std::span<const std::string> names) {
  for (std::size_t column = 0; column < values.size(); ++column)
    for (std::size_t row = 0; values[column].texts && row < rows; ++row)
      if (const std::size_t bytes = values[column].texts[row].size(); bytes > most_parquet_text)
        throw invalid_argument(fmt::format(
            "write_parquet: a text of the column '{}' has {} bytes, and in a Parquet file it may have "
            "{}: cut it, or use write_csv()",
            names[column], bytes, most_parquet_text));
}

}  // namespace actorflow

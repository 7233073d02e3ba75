#include "actors/models/fit/callbacks/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataflow/values/error.h"
#include "schema/records/csv_field.h"

namespace actorflow {

std::optional<CsvColumns> CsvColumns::of_header(std::string_view line) {
  CsvSplitter splitter;
  try {
    const auto fields = splitter.split(line);
    return CsvColumns(std::string(fields.front()), {fields.begin() + 1, fields.end()});
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool CsvColumns::has(std::string_view measured) const {
  return std::ranges::find(measured_, measured) != measured_.end();
}

std::string CsvColumns::header() const {
  std::string header = number_;
  for (const std::string& name : measured_) {
    header += ',';
    detail::append_csv_text(name, header, ',');
  }
  return header;
}

std::string CsvColumns::row(std::int64_t number, const Logs& logs) const {
  std::string row = fmt::format("{}", number);
  for (const std::string& name : measured_) {
    const auto value = logs.find(name);
    row += value ? fmt::format(",{}", *value) : ",";
  }
  return row;
}

}  // namespace actorflow

// Folders of an output by the value of a column: OUT/country=DE/part-00000-of-00004.csv, as Hive, Spark
// and DuckDB name them.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "schema/records/csv_field.h"
#include "schema/records/record.h"

namespace actorflow {

// Keys whose texts name folders. Floating-point numbers do not: equal ones may be written differently.
template <class K>
concept NamesFolder =
    std::convertible_to<const K&, std::string_view> || std::integral<K> || std::is_enum_v<K>;

// "country=DE". Bytes that have a meaning in a path, in a pattern or for Hive are written as %2F, and an
// empty value as Hive's name for it. Throws invalid_argument for a name of more than 255 bytes.
std::string column_folder(const std::string& column, std::string_view value);
template <NamesFolder K>
std::string column_folder_of(const std::string& column, const K& key) {
  std::string text;
  detail::append_csv_value(key, text);
  return column_folder(column, text);
}

// Throws invalid_argument unless it can be the name of a column: letters, digits and _, '-' or '.'.
void expect_column_name(const std::string& column, const char* action);
// So many values of a column a part may write, each of which is a file.
inline constexpr std::size_t most_column_values = 10'000;
[[noreturn]] void throw_many_values(const std::string& column);

// The files of an output folder and of the folders of columns in it: "part-...", "country=DE/part-...".
// Of a storage that is no real disk only its own files: it lists no folders.
std::vector<std::string> output_files(Storage& storage, const std::string& folder);

}  // namespace actorflow

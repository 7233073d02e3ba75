#include "actors/jobs/outputs/column_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}
// Bytes of UTF-8 beyond ASCII stay.
bool stays(char c) { return is_plain(c) || c == ' ' || c == '+' || c == ',' || (c & 0x80) != 0; }

}  // namespace

std::string column_folder(const std::string& column, std::string_view value) {
  constexpr std::size_t most_bytes = 255;  // of a name on Linux
  std::string name = column + "=";
  for (const char c : value)
    if (stays(c))
      name += c;
    else
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  if (value.empty()) name += "__HIVE_DEFAULT_PARTITION__";
  if (name.size() > most_bytes)
    throw invalid_argument(
        fmt::format("a folder cannot be named after a value of '{}' that is so long: '{}...' has {} "
                    "bytes as a name, and {} are the most; divide by a column of short values",
                    column, name.substr(0, 40), name.size(), most_bytes));
  return name;
}

void expect_column_name(const std::string& column, const char* action) {
  if (!column.empty() && std::ranges::all_of(column, is_plain)) return;
  throw invalid_argument(
      fmt::format("{}: expected the name of a column, of letters, digits and _, '-' or '.', got '{}'",
                  action, column));
}

void throw_many_values(const std::string& column) {
  throw invalid_argument(fmt::format(
      "a part of the output has more than {} values of '{}', and each would be a file: divide by a "
      "column of fewer values, or bring equal ones together first, by partition_by()",
      most_column_values, column));
}

std::vector<std::string> output_files(Storage& storage, const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files = storage.list(folder);
  std::error_code failure;
  if (&storage != &posix_storage() || !fs::is_directory(folder, failure)) return files;
  for (fs::directory_iterator entry(folder, failure), end; entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (name.find('=') == name.npos || !entry->is_directory(failure)) continue;
    for (const auto& file : storage.list(folder + "/" + name)) files.push_back(name + "/" + file);
  }
  return files;
}

}  // namespace actorflow

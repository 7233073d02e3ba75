#include "actors/jobs/engine/expect_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The first file on the way; empty: there is none.
std::string file_in_the_way(Storage& storage, const std::string& path) {
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    if (std::string part = path.substr(0, end); storage.exists(part)) return part;
  }
  return "";
}

}  // namespace

void expect_folder(Storage& storage, const std::string& what, const std::string& expected,
                   const std::string& path) {
  const std::string file = file_in_the_way(storage, path);
  if (file.empty()) return;
  throw invalid_argument(
      fmt::format("{} '{}': expected {}, but {} a file: give another one, or move the file away", what,
                  path, expected, file == path ? "it is" : fmt::format("'{}' is", file)));
}

}  // namespace actorflow

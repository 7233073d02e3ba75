// Jobs of tests: small splits, so that a little input has many parts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/jobs/job.h"
#include "dataflow/values/error.h"
#include "schema/text_file.h"
#include "test/support/folder.h"

namespace actorflow::test {

inline JobOptions small_parts(std::size_t threads = 2) {
  JobOptions options;
  options.threads = threads;
  options.memory_bytes = std::size_t{256} << 20;
  options.split_bytes = 1000;
  options.partition_bytes = 2000;
  return options;
}

// 0, 1, ... below `count`.
inline std::vector<std::int64_t> numbers(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The files of a folder, by name.
inline std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename().string()] = read_text_file(entry.path().string()).value();
  return files;
}

// Whether the status's message contains the text.
inline bool has(const Status& status, std::string_view part) {
  return status.message.find(part) != std::string::npos;
}

}  // namespace actorflow::test

// The documents of the project.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace actorflow::test {

// All *.md files, in no order; none of build folders, of which some are hidden.
inline std::vector<std::filesystem::path> all_documents() {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  const fs::path top(ACTORFLOW_SOURCE_DIR);
  for (auto entry = fs::recursive_directory_iterator(top); entry != fs::end(entry); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name == "build" || name.starts_with(".")))
      entry.disable_recursion_pending();
    if (entry->is_regular_file() && entry->path().extension() == ".md") found.push_back(entry->path());
  }
  return found;
}

}  // namespace actorflow::test

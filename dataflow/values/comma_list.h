// Lists in texts, such as flags.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

// "a,,b" is "a", "" and "b". Nothing comes after a last comma.
inline std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

}  // namespace actorflow

// The commands that a document tells its readers to give.
#pragma once

#include <istream>
#include <string>
#include <vector>

namespace actorflow::test {

// The lines of blocks that name no language; a backslash at the end joins a line and the next one.
inline std::vector<std::string> command_lines(std::istream& document) {
  std::vector<std::string> lines;
  bool in_block = false, goes_on = false;
  std::string fence;
  for (std::string line; std::getline(document, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && line.substr(begin).starts_with("```")) {
      in_block = fence.empty() && line.substr(begin) == "```";
      fence = fence.empty() ? "```" : "";
      continue;
    }
    if (!in_block) continue;
    if (!goes_on) lines.emplace_back();
    goes_on = line.ends_with("\\");
    lines.back() += line.substr(0, line.size() - (goes_on ? 1 : 0));
  }
  return lines;
}

}  // namespace actorflow::test

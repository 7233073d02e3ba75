// A small file as a string.
#pragma once

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace actorflow {

// The content of the file; nothing if it cannot be read.
inline std::optional<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof())
    text << file.rdbuf();  // << of nothing sets failbit
  if (!file.is_open() || file.bad()) return {};
  return text.str();
}

}  // namespace actorflow

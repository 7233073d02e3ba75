#pragma once

#include <string>

namespace actorflow::test {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace actorflow::test

// Errors by several parts of what they say.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "test/support/says.h"

namespace actorflow::test {

// A predicate: the error's message has all of these.
inline auto says_all(std::vector<std::string> parts) {
  return [parts = std::move(parts)](const Error& error) {
    return std::ranges::all_of(parts, [&](const std::string& part) { return says(part)(error); });
  };
}

}  // namespace actorflow::test

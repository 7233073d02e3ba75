// The status of an action that may throw an Error.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "dataflow/values/error.h"

namespace actorflow::test {

inline Status status_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.status();
  }
  return {};
}

// The message of that status; "" if it throws none.
inline std::string error_of(const std::function<void()>& action) { return status_of(action).message; }

// Whether the status's message contains the text.
inline bool has(const Status& status, std::string_view part) {
  return status.message.find(part) != std::string::npos;
}

}  // namespace actorflow::test

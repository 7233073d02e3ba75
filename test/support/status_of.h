// The status of an action that may throw an Error.
#pragma once

#include <functional>
#include <string>

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

// Its message; "" if it throws none.
inline std::string error_of(const std::function<void()>& action) { return status_of(action).message; }

}  // namespace actorflow::test

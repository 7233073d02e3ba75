// The status of an action that may throw.
#pragma once

#include <functional>

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

}  // namespace actorflow::test

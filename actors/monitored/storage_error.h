// Errors of a disk that do not end training.
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <string>

#include "actors/runtime/runtime.h"
#include "dataflow/values/error.h"

namespace actorflow {

inline bool is_of_storage(Code code) {
  return code == Code::resource_exhausted || code == Code::permission_denied ||
         code == Code::not_found || code == Code::disk_error;
}

// The pause after that many failures in a row, from 1 on: 1 s, doubled each time, at most a minute.
inline std::chrono::seconds storage_pause(int failures) {
  return std::chrono::seconds(failures > 6 ? 60 : 1 << (failures - 1));
}

// Returns what `body` returns. A disk_error, which may pass, is logged with `what`, and `body` is called
// again after a pause; the error of the last try, and every other error, is thrown. Blocks for at most
// 15 s.
template <class Body>
auto with_storage_tries(Runtime& runtime, const std::string& what, Body&& body) {
  constexpr int tries = 5;
  for (int failures = 1;; ++failures) try {
      return body();
    } catch (const Error& error) {
      if (error.code() != Code::disk_error || failures == tries) throw;
      spdlog::error("{} failed, trying again in {} s: {}", what, storage_pause(failures).count(),
                    error.what());
      runtime.sleep(storage_pause(failures));
    }
}

}  // namespace actorflow

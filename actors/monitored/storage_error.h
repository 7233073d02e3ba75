// What a disk may answer while training goes on all the same.
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

// The pause after so many failures in a row, from 1 on: 1 s, doubled each time, a minute at most.
inline std::chrono::seconds storage_pause(int failures) {
  return std::chrono::seconds(failures > 6 ? 60 : 1 << (failures - 1));
}

// What `body` returns. A disk_error, which may pass, is logged as that of `what`, and `body` called
// again after a pause; that of the last try comes out, as does every other error. Blocks for 15 s at
// most.
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

// Trying again when a disk answers with an error that may pass.
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow {

// The pause after that many failures in a row, from 1 on: 1 s, doubled each time, at most a minute.
inline std::chrono::seconds storage_pause(int failures) {
  return std::chrono::seconds(failures > 6 ? 60 : 1 << (failures - 1));
}

// Returns what `body` returns. A disk_error, which may pass, is logged with `what`, and `body` is called
// again after `sleep(pause)`; the error of the last try, and every other error, is thrown. The pauses
// are 15 s together at most.
template <class Sleep, class Body>
auto try_storage(const Sleep& sleep, const std::string& what, Body&& body) {
  constexpr int tries = 5;
  for (int failures = 1;; ++failures) try {
      return body();
    } catch (const Error& error) {
      if (error.code() != Code::disk_error || failures == tries) throw;
      spdlog::error("{} failed, trying again in {} s: {}", what, storage_pause(failures).count(),
                    error.what());
      sleep(storage_pause(failures));
    }
}

}  // namespace actorflow

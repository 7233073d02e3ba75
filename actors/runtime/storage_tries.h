// Trying again when a disk answers with an error that may pass.
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "dataflow/values/error.h"

namespace actorflow {

inline bool is_of_storage(Code code) {
  return code == Code::resource_exhausted || code == Code::permission_denied ||
         code == Code::not_found || code == Code::disk_error;
}

// How a thread lets time pass between tries: on its runtime's clock, or on the machine's.
using StorageSleep = std::function<void(std::chrono::seconds)>;

inline void sleep_on_machine(std::chrono::seconds pause) { std::this_thread::sleep_for(pause); }

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

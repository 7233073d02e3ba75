// Errors of a disk that do not end training. README.md has the rule.
#pragma once

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "actors/checkpoint/newest_whole.h"
#include "actors/runtime/runtime.h"
#include "actors/runtime/storage_tries.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Calls `body` and returns whether it has succeeded. An error of the storage, or lack of memory, is
// logged: `what` could not be done. Every other error is thrown.
template <class Body>
bool storage_allows(const std::string& what, Body&& body) {
  const auto log = [&what](const char* why) {
    spdlog::error("cannot {}, all else goes on: {}", what, why);
    return false;
  };
  try {
    body();
    return true;
  } catch (const Error& error) {
    if (!is_of_storage(error.code())) throw;
    return log(error.what());
  } catch (const std::bad_alloc&) {
    return log("out of memory");
  }
}

// For what is written when nothing is left to do meanwhile: the disk is worth waiting for, but not for
// ever. Calls `write` until it succeeds, or the storage has refused it for so long; then throws its
// error with `what`.
template <class Write>
void write_at_last(Runtime& runtime, const std::string& what, double max_wait_secs, Write&& write) {
  constexpr std::chrono::seconds longest_pause{5};
  const auto began = runtime.clock().now();
  for (int failures = 1;; ++failures) try {
      return write();
    } catch (const Error& error) {
      if (!is_of_storage(error.code())) throw;
      const double waited = std::chrono::duration<double>(runtime.clock().now() - began).count();
      if (waited >= max_wait_secs)
        throw Error(error.code(),
                    fmt::format("{} could not be saved in {:.0f} s: {}", what, waited, error.what()));
      spdlog::warn("{} waits for the disk, since {:.0f} s: {}", what, waited, error.what());
      runtime.sleep(std::min(storage_pause(failures), longest_pause));
    }
}

// try_storage() for a client's thread.
template <class Body>
auto with_storage_tries(Runtime& runtime, const std::string& what, Body&& body) {
  return try_storage([&runtime](auto pause) { runtime.sleep(pause); }, what, std::forward<Body>(body));
}

// restore_newest() of checkpoint/newest_whole.h for a client's thread.
template <class Restore>
auto restore_newest(Runtime& runtime, const std::string& folder, Restore&& restore) {
  return restore_newest([&runtime](auto pause) { runtime.sleep(pause); }, folder,
                        std::forward<Restore>(restore));
}

}  // namespace actorflow

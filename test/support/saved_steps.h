// Waits for checkpoints of a job that takes its time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "actors/checkpoint/checkpoint.h"
#include "actors/monitored/training_end.h"
#include "test/support/hang_limit.h"

namespace actorflow::test {

// Waits until the folder has a checkpoint of this step or a later one. False if none that is newer than
// all before has come within `hang_limit`: a job that goes on, however slowly, is no hang.
inline bool comes_to_step(const std::string& folder, std::int64_t step) {
  std::int64_t newest = -1;
  for (auto end = std::chrono::steady_clock::now() + hang_limit; newest < step;) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::int64_t saved = latest_step(posix_storage(), folder).value_or(-1);
    if (saved <= newest) continue;
    newest = saved;
    end = std::chrono::steady_clock::now() + hang_limit;
  }
  return true;
}

}  // namespace actorflow::test

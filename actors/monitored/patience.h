// Waiting by polling, with a limit and with log lines.
#pragma once

#include <chrono>
#include <string>

#include "actors/runtime/runtime.h"

namespace actorflow {

// The patience of one wait of a blocking thread.
class Patience {
 public:
  // `limit_secs` 0 = without end. REQUIRES: the runtime outlives this.
  Patience(Runtime& runtime, std::string who, double limit_secs)
      : runtime_(&runtime), who_(std::move(who)), limit_secs_(limit_secs) {}

  // Sleeps for a moment. Logs "<who> waits <for_what>, since <n> s" every few seconds. Throws
  // deadline_exceeded with the same text when the limit is over.
  void wait(const std::string& for_what);

 private:
  Runtime* runtime_;
  std::string who_;
  double limit_secs_;
  Clock::time_point began_ = runtime_->clock().now();
  Clock::time_point next_report_ = began_ + std::chrono::seconds(2);
};

}  // namespace actorflow

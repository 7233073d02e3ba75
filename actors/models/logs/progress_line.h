// The line that fit() prints for each epoch.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "actors/models/logs/logs.h"
#include "actors/runtime/clock.h"

namespace actorflow {

// To standard output: on a terminal the line changes while the epoch runs. Not thread-safe.
class ProgressLine {
 public:
  // REQUIRES: the clock outlives this.
  ProgressLine(Clock& clock, bool silent, int epoch, int last_epoch, std::optional<std::int64_t> steps);

  // A batch was trained.
  void step();
  // The epoch has ended.
  void finish(const Logs& logs);

 private:
  std::string begin() const;
  double seconds() const;

  Clock& clock_;
  bool silent_, live_;
  int epoch_, last_epoch_;
  std::optional<std::int64_t> steps_;
  std::int64_t done_ = 0;
  Clock::time_point began_ = clock_.now();
  Clock::time_point shown_ = began_;
};

}  // namespace actorflow

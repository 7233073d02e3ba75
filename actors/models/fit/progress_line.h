// The line that fit() prints for each epoch.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "actors/models/fit/logs.h"

namespace actorflow {

// To standard output: on a terminal the line changes while the epoch runs. Not thread-safe.
class ProgressLine {
 public:
  ProgressLine(bool silent, int epoch, int last_epoch, std::optional<std::int64_t> steps);

  // A batch was trained.
  void step();
  // The epoch has ended.
  void finish(const Logs& logs);

 private:
  std::string begin() const;
  double seconds() const;

  bool silent_, live_;
  int epoch_, last_epoch_;
  std::optional<std::int64_t> steps_;
  std::int64_t done_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_ = began_;
};

}  // namespace actorflow

// The line that tells a person how training goes. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdio>

#include "apps/training/meter.h"

namespace actorflow {

// Writes to a terminal one line that changes, else a line of its own every second.
class Progress {
 public:
  // `out` outlives this.
  explicit Progress(std::FILE* out);

  // Shows the meter if it is time for it.
  void update(const Meter& meter);
  // Shows the final state.
  void finish(const Meter& meter);

 private:
  void show(const Meter& meter);

  std::FILE* out_;
  bool live_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace actorflow

// A line about the progress of training, for a person. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "apps/training/reports/meter.h"

namespace actorflow {

// Writes one changing line to a terminal, otherwise a new line every second. The first step is also
// reported to the launcher, if there is one (apps/launch/step_report.h).
class Progress {
 public:
  // `out` must outlive this; null: nobody looks.
  explicit Progress(std::FILE* out);

  // Shows the meter if it is time for it.
  void update(const Meter& meter);
  // Shows the final state, unless that is what was shown last.
  void finish(const Meter& meter);

 private:
  void show(const Meter& meter);

  std::FILE* out_;
  bool live_;
  std::int64_t shown_step_ = -1;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace actorflow

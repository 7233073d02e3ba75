// Measures loss, accuracy and speed of a replica's training. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>

#include "actors/runtime/clock.h"
#include "apps/training/reports/learning_curve.h"

namespace actorflow {

class Meter {
 public:
  // Measures from global step `start` to `end`; a global step takes `examples_per_step` examples of all
  // replicas together. REQUIRES: the clock outlives this.
  Meter(Clock& clock, std::int64_t start, std::int64_t end, std::int64_t examples_per_step)
      : clock_(clock), start_(start), step_(start), end_(end), examples_per_step_(examples_per_step) {}

  void record(std::int64_t step, double loss, double accuracy);

  std::int64_t step() const { return step_; }
  std::int64_t end() const { return end_; }
  bool has_steps() const { return !recent_.empty(); }
  // Means over at most 100 last steps of this replica; 0 without any.
  double loss() const;
  double accuracy() const;
  double seconds() const;
  // The speed of all replicas together.
  double examples_per_second() const;
  double seconds_left() const;
  const LearningCurve& curve() const { return curve_; }

 private:
  struct Sample {
    double loss;
    double accuracy;
  };
  double mean(double Sample::*value) const;

  Clock& clock_;
  std::int64_t start_, step_, end_, examples_per_step_;
  std::deque<Sample> recent_;
  LearningCurve curve_;
  Clock::time_point began_ = clock_.now();
  Clock::time_point last_ = began_;
};

}  // namespace actorflow

// A wait for a task, or for what is made again: it begins anew when that has moved, but not for ever.
#pragma once

#include <chrono>

#include "actors/runtime/clock.h"

namespace actorflow {

// The times of a wait: in seconds, from any moment.
inline double seconds_of(Clock& clock) {
  return std::chrono::duration<double>(clock.now().time_since_epoch()).count();
}

class BoundedWait {
 public:
  explicit BoundedWait(double now) : began_(now), since_(now), said_(now) {}

  // What is waited for has come or gone: so it begins anew, a number of times.
  void renew(double now) {
    since_ = now;
    ++renewals_;
  }
  // What is waited for has come nearer, which it can so many times only: it begins anew.
  void restart(double now) { since_ = now; }
  bool is_over(double now, double patience) const {
    return renewals_ > most_renewals || now - since_ > patience;
  }
  // Since its first beginning.
  double seconds(double now) const { return now - began_; }
  // Whether it is time to say for what one waits: within 2 s by one who asks twice a second, and every
  // 10 s from then on.
  bool is_to_be_said(double now) {
    if (now - said_ < (has_said_ ? seconds_between_warnings : seconds_to_first_warning)) return false;
    said_ = now;
    has_said_ = true;
    return true;
  }

 private:
  static constexpr unsigned most_renewals = 20;  // a task that comes and goes ten times
  static constexpr double seconds_to_first_warning = 1.5, seconds_between_warnings = 10;

  double began_, since_, said_;
  unsigned renewals_ = 0;
  bool has_said_ = false;
};

}  // namespace actorflow

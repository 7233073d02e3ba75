// A wait for a task, or for something that is made again. It begins anew whenever that makes progress,
// but not for ever.
#pragma once

#include <chrono>

#include "actors/runtime/clock.h"

namespace actorflow {

// The time for a wait, in seconds since some fixed moment.
inline double seconds_of(Clock& clock) {
  return std::chrono::duration<double>(clock.now().time_since_epoch()).count();
}

class RenewedWait {
 public:
  explicit RenewedWait(double now) : began_(now), since_(now), said_(now) {}

  // Begins the wait anew because what is waited for has come or gone: only a number of times
  // (was_renewed_too_often()).
  void renew(double now) {
    since_ = now;
    ++renewals_;
  }
  // Begins the wait anew because what is waited for has come nearer, which can happen a limited number
  // of times only.
  void restart(double now) { since_ = now; }
  bool is_over(double now, std::chrono::duration<double> patience) const {
    return was_renewed_too_often() || now - since_ > patience.count();
  }
  // Whether what is waited for comes and goes all the time.
  bool was_renewed_too_often() const { return renewals_ > most_renewals; }
  // The seconds since the wait first began.
  double seconds(double now) const { return now - began_; }
  // Whether it is time to log what is waited for: within the first 2 s, if this is called twice a
  // second, and every 10 s from then on.
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

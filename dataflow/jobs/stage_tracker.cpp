#include "dataflow/jobs/stage_tracker.h"

namespace actorflow {

StageTracker::StageTracker(std::size_t parts) : accepted_(parts), attempts_(parts) {}

std::optional<PartAttempt> StageTracker::next() {
  std::size_t part = next_;
  if (!again_.empty()) {
    part = again_.front();
    again_.pop_front();
  } else if (next_ < parts()) {
    ++next_;
  } else {
    return std::nullopt;
  }
  return PartAttempt{part, attempts_[part]++};
}

bool StageTracker::accept(const PartAttempt& attempt) {
  if (accepted_[attempt.part]) return false;
  accepted_[attempt.part] = true;
  ++num_accepted_;
  return true;
}

unsigned StageTracker::again(const PartAttempt& attempt) {
  if (!accepted_[attempt.part]) again_.push_back(attempt.part);
  return attempts_[attempt.part];
}

}  // namespace actorflow

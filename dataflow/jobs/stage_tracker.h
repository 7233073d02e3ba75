// Which parts of a stage are to run, are running and are done.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace actorflow {

struct PartAttempt {
  std::size_t part = 0;
  unsigned attempt = 0;  // from 0 on

  bool operator==(const PartAttempt&) const = default;
};

// Not thread-safe.
class StageTracker {
 public:
  explicit StageTracker(std::size_t parts);

  // The next to run, in the order of parts; those that have failed come before others.
  std::optional<PartAttempt> next();
  // The attempt is accepted; false if another one of its part has been.
  bool accept(const PartAttempt& attempt);
  // Its part runs again. Returns how many attempts it had.
  unsigned again(const PartAttempt& attempt);

  std::size_t parts() const { return accepted_.size(); }
  std::size_t accepted() const { return num_accepted_; }
  bool finished() const { return num_accepted_ == parts(); }

 private:
  std::vector<bool> accepted_;
  std::vector<unsigned> attempts_;  // begun
  std::deque<std::size_t> again_;
  std::size_t next_ = 0;  // of the parts that have not begun
  std::size_t num_accepted_ = 0;
};

}  // namespace actorflow

// Threads that share the work of one kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace actorflow {

// Runs the parts of a kernel on several threads. The number of parts must follow from the shapes alone,
// so that results do not depend on the number of threads. Thread-safe.
class Team {
 public:
  virtual ~Team() = default;
  // Calls part(0) to part(parts - 1) once each, on the calling thread and on free ones, and returns when
  // all are done. Throws the exception of one part; other parts may then not have run.
  virtual void run(int parts, const std::function<void(int)>& part) = 0;
};

// The range [0, size) in shares of nearly equal size.
class Shares {
 public:
  // The number of shares is `wanted`, but at least 1 and at most `most`.
  Shares(std::int64_t size, std::int64_t wanted, std::int64_t most)
      : size_(size), count_(std::clamp<std::int64_t>(wanted, 1, most)) {}

  int count() const { return static_cast<int>(count_); }
  // Share i goes from begin(i) to begin(i + 1).
  std::int64_t begin(int share) const { return size_ * share / count_; }
  std::int64_t size(int share) const { return begin(share + 1) - begin(share); }

 private:
  std::int64_t size_;
  std::int64_t count_;
};

// Calls body(begin, end) for each share, one after the other if there is no team.
template <class Body>
void share_out(Team* team, const Shares& shares, const Body& body) {
  const auto run = [&](int share) { body(shares.begin(share), shares.begin(share + 1)); };
  if (team && shares.count() > 1) return team->run(shares.count(), run);
  for (int share = 0; share < shares.count(); ++share) run(share);
}

}  // namespace actorflow

// Stragglers: the replica for which the others wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace actorflow {

// When all replicas but one are at a barrier, they wait for that one alone, until it comes, too, or they
// may go on. A value; not thread-safe.
class StragglerWatch {
 public:
  using Duration = std::chrono::nanoseconds;
  using Time = std::chrono::steady_clock::time_point;
  struct Straggler {
    std::int64_t replica = 0;
    Duration waited{0};
  };

  // Notes that the others wait for this replica alone from now on; none: they do not wait, or wait for
  // several.
  void waits_for(std::optional<std::int64_t> replica, Time now) {
    if (replica_) waited_[*replica_] += now - since_;
    replica_ = replica;
    since_ = now;
  }

  // The replica for which alone the others have waited longest since the last call, if there is one.
  std::optional<Straggler> take_worst(Time now) {
    waits_for(replica_, now);
    const auto waited = std::exchange(waited_, {});
    const auto worst =
        std::ranges::max_element(waited, {}, [](const auto& entry) { return entry.second; });
    if (worst == waited.end()) return std::nullopt;
    return Straggler{worst->first, worst->second};
  }

 private:
  std::optional<std::int64_t> replica_;
  Time since_{};
  std::map<std::int64_t, Duration> waited_;  // by replica
};

}  // namespace actorflow

// Stragglers: the replica for which the others wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace actorflow {

// Replicas come to a barrier once per round. When all but one are there, they wait for that one alone. A
// value; not thread-safe.
class StragglerWatch {
 public:
  using Duration = std::chrono::nanoseconds;
  using Time = std::chrono::steady_clock::time_point;
  struct Straggler {
    std::int64_t replica = 0;
    Duration waited{0};
  };

  // Notes that a replica has arrived. If it arrives again before the others, a new round begins, in
  // which nobody has waited for them.
  void arrived(std::int64_t replica, std::int64_t num_replicas, Time now) {
    if (!here_.insert(replica).second) here_ = {replica};
    if (static_cast<std::int64_t>(here_.size()) == num_replicas) {
      if (num_replicas > 1) waited_[replica] += now - last_arrival_;
      here_.clear();
    }
    last_arrival_ = now;
  }

  // The replica for which alone the others have waited longest since the last call, if there is one.
  std::optional<Straggler> take_worst() {
    const auto waited = std::exchange(waited_, {});
    const auto worst = std::ranges::max_element(waited, {}, [](const auto& entry) { return entry.second; });
    if (worst == waited.end()) return std::nullopt;
    return Straggler{worst->first, worst->second};
  }

 private:
  std::set<std::int64_t> here_;
  Time last_arrival_{};
  std::map<std::int64_t, Duration> waited_;  // by replica
};

}  // namespace actorflow

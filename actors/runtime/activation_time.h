// How long the activations of an actor take, for the choice of the thread that runs the next one.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace actorflow {

// Written by the thread that runs the actor; read by any.
class ActivationTime {
 public:
  // What the network's thread may spend on one actor before it looks for messages again: about as long
  // as it takes for a part of a large tensor (schema/rpc/bulk_connection.h).
  static constexpr std::chrono::microseconds limit{100};
  // The same where other threads want the cores: a worker that is woken there has to wait for its turn.
  static constexpr std::chrono::microseconds limit_on_wanted_cores{1000};

  // Whether the longest of the last activations was within the time.
  bool within(std::chrono::nanoseconds time) const {
    return longest_ns_.load(std::memory_order_relaxed) <= time.count();
  }
  // Remembers the longest, and forgets it slowly: half of it after 44 shorter ones.
  void measured(std::chrono::nanoseconds time) {
    const auto before = longest_ns_.load(std::memory_order_relaxed);
    longest_ns_.store(std::max<std::int64_t>(time.count(), before - before / 64),
                      std::memory_order_relaxed);
  }

 private:
  // Nothing is known of a new actor: it counts as long until about 150 activations were short.
  std::atomic<std::int64_t> longest_ns_{std::chrono::nanoseconds(limit_on_wanted_cores).count() + 1};
};

}  // namespace actorflow

// Which asynchronous updates of a variable have been made, so that none is made twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "actors/accumulator.h"

namespace actorflow {

// Serials of a replica's updates grow, one step at a time; those of different train ops are independent
// of each other. Not thread-safe: it belongs to a shard.
class AppliedUpdates {
 public:
  struct Key {
    std::string train_op;
    std::int64_t replica = 0;

    auto operator<=>(const Key&) const = default;
  };

  // False if an update of this serial or a later one has been made before; -1 is always new.
  bool admit(const Key& key, std::int64_t serial);
  // That the last was left out.
  void not_finite(const Key& key) { ++replicas_[key].counts.not_finite; }
  // The serial after the last. One that asks for the first time begins with `first`, also if it asks
  // again.
  std::int64_t next(const Key& key, std::int64_t first);
  // Of all train ops together.
  GradientCounts counts(std::int64_t replica) const;

 private:
  struct Replica {
    GradientCounts counts;
    std::int64_t last = -1;
  };

  std::map<Key, Replica> replicas_;
};

}  // namespace actorflow

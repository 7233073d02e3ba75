// The applied asynchronous updates of a variable, so that none is applied twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "actors/training/accumulator.h"

namespace actorflow {

// Serials of a replica's updates grow one step at a time; those of different train ops are independent.
// Not thread-safe: it belongs to a shard.
class AppliedUpdates {
 public:
  struct Key {
    std::string train_op;
    std::int64_t replica = 0;

    auto operator<=>(const Key&) const = default;
  };
  // The updates of one replica.
  class Replica {
   public:
    // False if an update of this serial or a later one has been made already, which is then counted as
    // repeated; -1 is always new.
    bool admit(std::int64_t serial) noexcept;
    // Call when an admitted update has been made; one that failed may be repeated. `finite`: false if it
    // was left out.
    void made(std::int64_t serial, bool finite = true) noexcept;

   private:
    friend class AppliedUpdates;
    GradientCounts counts_;
    std::int64_t last_ = -1;
  };

  // The updates of a replica; the reference stays valid.
  Replica& of(const Key& key) { return replicas_[key]; }
  // The serial after the last one. A replica without updates begins with `first`, also if it asks again.
  std::int64_t next(const Key& key, std::int64_t first);
  // Of each key, the serial of the last update; their number where they have none.
  std::map<Key, std::int64_t> last() const;
  // Of all train ops together.
  GradientCounts counts(std::int64_t replica) const;

 private:
  std::map<Key, Replica> replicas_;
};

}  // namespace actorflow

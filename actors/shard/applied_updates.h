// Which asynchronous updates of a variable have been made, so that none is made twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "actors/training/accumulator.h"

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
  // What is known of one replica's updates.
  class Replica {
   public:
    // False, and counted, if an update of this serial or a later one has been made before; -1 is always
    // new.
    bool admit(std::int64_t serial) noexcept;
    // An admitted update counts when it has been made: one that failed may come again. `finite`: it was
    // not left out.
    void made(std::int64_t serial, bool finite = true) noexcept;

   private:
    friend class AppliedUpdates;
    GradientCounts counts_;
    std::int64_t last_ = -1;
  };

  // Stays where it is.
  Replica& of(const Key& key) { return replicas_[key]; }
  // The serial after the last. One that asks for the first time begins with `first`, also if it asks
  // again.
  std::int64_t next(const Key& key, std::int64_t first);
  // Of each key, the serial of the last update; their number where they have none.
  std::map<Key, std::int64_t> last() const;
  // Of all train ops together.
  GradientCounts counts(std::int64_t replica) const;

 private:
  std::map<Key, Replica> replicas_;
};

}  // namespace actorflow

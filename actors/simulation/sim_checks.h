// The invariants of a simulated cluster, and when each is checked.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "actors/simulation/world/world.h"

namespace actorflow {

// Not thread-safe.
class SimChecks {
 public:
  // `holds` is false, or throws, if the invariant is violated. `every`: the time from one check to the
  // next, at least; 0 = at each call of check_due().
  void add(std::string name, std::function<bool()> holds, std::chrono::nanoseconds every) {
    checks_.push_back({std::move(name), std::move(holds), every});
  }
  // Check those whose time has come, or all. Throw Error (internal) with the name of the first one that
  // does not hold, the time, and what it threw.
  void check_due(World::Time now);
  void check_all(World::Time now) const;

 private:
  struct Check {
    std::string name;
    std::function<bool()> holds;
    std::chrono::nanoseconds every;
    World::Time next = World::beginning;
  };

  std::vector<Check> checks_;
};

}  // namespace actorflow

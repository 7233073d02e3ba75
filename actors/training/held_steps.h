// What can be held: barriers at which replicas wait before they begin a step.
#pragma once

#include <cstdint>
#include <set>

namespace actorflow {

class HeldSteps {
 public:
  virtual ~HeldSteps() = default;
  // From now on no replica begins its next step, until resume().
  virtual void hold() = 0;
  virtual void resume() = 0;
  // Whether no replica changes a variable any more. Those of `resting` do not while they rest.
  virtual bool stand_still(const std::set<std::int64_t>& resting) const = 0;
};

}  // namespace actorflow

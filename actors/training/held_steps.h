// The interface of barriers that can be held: replicas wait at them before they begin a step.
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
  // Whether no replica changes a variable any more. The replicas in `resting` rest and change none.
  virtual bool stand_still(const std::set<std::int64_t>& resting) const = 0;
};

}  // namespace actorflow

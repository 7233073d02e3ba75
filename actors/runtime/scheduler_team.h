// The scheduler's threads as a team for the parts of a kernel.
#pragma once

#include "kernels/devices/team.h"

namespace actorflow {

class Scheduler;

class SchedulerTeam final : public Team {
 public:
  explicit SchedulerTeam(Scheduler& scheduler) : scheduler_(scheduler) {}
  void run(int parts, const std::function<void(int)>& part) override;

 private:
  Scheduler& scheduler_;
};

}  // namespace actorflow

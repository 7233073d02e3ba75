// Map/reduce jobs of scenarios on simulated clusters.
#pragma once

#include "apps/scenario/simulate.h"

namespace actorflow {

// Throws Error if the job fails or hangs.
SimulatedJob simulate_records(const Scenario& scenario, const SimOptions& options,
                              const FaultPlan& faults);

}  // namespace actorflow

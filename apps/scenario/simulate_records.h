// Map/reduce jobs of scenarios on simulated clusters.
#pragma once

#include "actors/jobs/run_job.h"
#include "apps/scenario/simulate.h"

namespace actorflow {

// The jobs that a scenario may name.
const JobTable& scenario_jobs();

// Throws Error if the job fails or hangs.
SimulatedJob simulate_records(const Scenario& scenario, const SimOptions& options,
                              const FaultPlan& faults);

}  // namespace actorflow

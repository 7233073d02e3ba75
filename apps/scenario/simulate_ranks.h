// All-reduces of scenarios on simulated clusters.
#pragma once

#include "apps/scenario/simulate.h"

namespace actorflow {

// Ranks that sum in rounds, and go on together when some were lost and have come back. The seed draws
// how many of the tasks are ranks, 2 or more, which share a host, and the algorithm, unless the scenario
// names one. Throws Error if a sum is not, bit by bit, that of a loop over the ranks, or if the ranks
// hang.
SimulatedJob simulate_ranks(const Scenario& scenario, const SimOptions& options,
                            const FaultPlan& faults);

// Of an option: "" is drawn from the seed. Throws UsageError that lists the names.
void check_algorithm(const std::string& name);

}  // namespace actorflow

// Under which addresses the hosts of a job reach each other.
#pragma once

#include "apps/launch/job_spec.h"
#include "apps/launch/task_environment.h"

namespace actorflow {

// Those of the hosts that the job begins with: loopback only if all are this machine, or the only one of
// an allocation. Where hosts may come later, this machine's name is one that they reach; but tasks
// without credentials stay on loopback. Throws invalid_argument if localhost is among other hosts.
JobAddresses first_addresses(const JobSpec& job, bool secure);

// Throws invalid_argument if a host that comes later, to an elastic job, would not be reached by the
// others, or would not reach them.
void check_joins(const JobAddresses& addresses, const LaunchHost& host);
// Adds the address of a host that comes later. REQUIRES: check_joins() lets it.
void add_host(JobAddresses& addresses, const LaunchHost& host);

}  // namespace actorflow

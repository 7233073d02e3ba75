// The machines that Slurm has allocated to the command that runs here.
#pragma once

#include <string_view>
#include <vector>

#include "apps/launch/job_spec.h"
#include "schema/environment/launched_rank.h"

namespace actorflow {

// The hosts of the allocation of salloc or sbatch, with a slot for each of its tasks; in a step of it,
// such as an interactive shell, with a slot for each of its processors. None outside of an allocation,
// nor in a rank of several that srun has started. Throws invalid_argument that names the variable which
// cannot be understood.
std::vector<LaunchHost> allocated_hosts(const Environment& environment = process_environment());

// Whether this NAME=VALUE asks srun for a part of what its allocation has, or for other output: salloc
// and sbatch repeat there what the job has asked for. Without any, a step has all that the allocation
// has on its machines.
bool is_request_to_srun(std::string_view assignment);

}  // namespace actorflow

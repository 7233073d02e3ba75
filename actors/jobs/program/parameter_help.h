// The help for a job's own parameters.
#pragma once

#include <string>

#include "actors/jobs/run_job.h"

namespace actorflow {

// For the job of that name a line for each parameter, with its default. Without a name, if there are
// several jobs, their names. Calls the job's function up to its first result, which reads nothing.
std::string parameter_help(const JobTable& jobs, const std::string& name);

}  // namespace actorflow

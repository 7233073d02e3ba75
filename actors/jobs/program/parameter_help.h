// What --help says of the parameters that are a job's own.
#pragma once

#include <string>

#include "actors/jobs/run_job.h"

namespace actorflow {

// Of the job of that name, a line for each parameter with what stands for it; of several jobs without a
// name, which there are. To know, it calls the job's function up to its first result: nothing is read.
std::string parameter_help(const JobTable& jobs, const std::string& name);

}  // namespace actorflow

// The options of a job's engine, as those of the job have them.
#pragma once

#include "actors/jobs/context/job_options.h"
#include "actors/jobs/engine/job_engine.h"

namespace actorflow {

// Throws invalid_argument for options with which no job can run.
JobEngineOptions engine_options(const JobOptions& options);

}  // namespace actorflow

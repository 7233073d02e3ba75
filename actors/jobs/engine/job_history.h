// What a job takes up of its earlier runs.
#pragma once

#include <string>
#include <vector>

#include "actors/jobs/engine/job_engine.h"
#include "actors/jobs/engine/job_journal.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// What an earlier run of a job must agree with.
std::vector<std::string> terms_of(const JobEngineOptions& options);

// What lies in the job's work folder; where the job begins at its beginning, that is removed first.
// Throws already_exists where it must not be, failed_precondition where it is of another job.
JobHistory open_history(Storage& storage, const JobEngineOptions& options);

}  // namespace actorflow

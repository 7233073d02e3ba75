// What a job takes over from its earlier runs.
#pragma once

#include <string>
#include <vector>

#include "actors/jobs/engine/job_engine.h"
#include "actors/jobs/engine/journal/job_journal.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// The lines in which an earlier run of a job must agree.
std::vector<std::string> terms_of(const JobEngineOptions& options);

// Reads the history in the job's work folder; removes it first if the job begins at its beginning.
// Throws already_exists if there must be none, failed_precondition if it is of another job, data_loss
// for a journal that does not begin as one, unless JobEngineOptions::overwrite.
JobHistory open_history(Storage& storage, const JobEngineOptions& options);

}  // namespace actorflow

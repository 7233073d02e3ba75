// Jobs that train a model of their own in each process, and so do not run on several.
#pragma once

#include <string>

#include "actors/jobs/job.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Throws invalid_argument if other tasks take part: each would learn from its share of the input alone.
inline void expect_one_process(const Job& job, const std::string& program) {
  if (job.has_others())
    throw invalid_argument(program +
                           ": expected one process, got a cluster, each of whose tasks would see its "
                           "share of the input alone: omit --cluster, and unset TF_CONFIG");
}

}  // namespace actorflow

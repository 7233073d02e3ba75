// The server of jobs that train a model of their own in one process.
#pragma once

#include <string>

#include "actors/actorflow.h"
#include "actors/jobs/job.h"
#include "actors/jobs/tensors/batches.h"

namespace actorflow {

// A server without a port, in the runtime of the job. It must end before the job. Throws
// invalid_argument if other tasks take part in the job: each would learn from its share of the input
// alone.
inline Server local_server(const Job& job, const std::string& program) {
  if (job.has_others())
    throw invalid_argument(program +
                           ": expected one process, got a cluster, each of whose tasks would see its "
                           "share of the input alone: omit --cluster, and unset TF_CONFIG");
  return Server::local(job.runtime());
}

}  // namespace actorflow

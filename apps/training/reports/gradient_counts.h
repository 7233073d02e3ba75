// Statistics of the gradients of replicated training, from the counts of its TrainOp.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/client/session.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

// Synchronous training: for each replica, the number of gradients, of all variables, that came too late
// for their step.
std::vector<std::int64_t> dropped_gradients(Session& session, const TrainOp& train, int replicas);

// Asynchronous training: the number of pairs of replica and variable in which an update was lost or
// applied twice, because the updates are neither as many as the replica's finished steps nor one more.
std::int64_t uneven_updates(Session& session, const TrainOp& train);

}  // namespace actorflow

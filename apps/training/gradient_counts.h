// What became of the gradients of a replicated training, from the counts of its TrainOp.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/client/session.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

// Synchronous: of each replica, gradients that came too late for their step, of all variables.
std::vector<std::int64_t> dropped_gradients(Session& session, const TrainOp& train, int replicas);

// Asynchronous: for how many pairs of replica and variable the updates are not as many as the steps that
// the replica has ended, or one more. Else an update was lost, or applied twice.
std::int64_t uneven_updates(Session& session, const TrainOp& train);

}  // namespace actorflow

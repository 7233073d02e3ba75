// What the first replica decides for all, where each by itself would decide otherwise, as by what it has
// measured.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "actors/strategies/replica_run.h"

namespace actorflow {

using Decision = std::vector<std::string>;

// At the first replica: calls `decide`, unless another one that goes on from before, while the first was
// started again, still has the decision; and tells the others. At the others: what the first one has
// decided, for which they wait. All get the same. `name` is that of an actor of each task; once per
// server. Empty where the job is over or stops meanwhile, and nothing is done by it; and where the first
// one has published its settings without such a decision: those of this replica are others then, and
// refused. Logs for whom it waits after 2 s, and then every 10 s. Throws what `decide` throws;
// deadline_exceeded if the first one does not answer for connect_timeout_ms, or is there for ten times as
// long and has not decided; and the reason if the job fails meanwhile.
Decision decided_by_first(Server& server, const std::vector<TaskName>& replicas, const std::string& name,
                          const ReplicaOptions& options, const std::function<Decision()>& decide);

}  // namespace actorflow

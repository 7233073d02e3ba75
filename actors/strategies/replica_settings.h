// What the replicas of a job must have in common. A replica with another optimizer, or another number of
// steps, would train something else in silence, or let the others wait for ever.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/task/server.h"
#include "dataflow/train/optimizer_choice.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

// Names and values, as people write them: {"batch_size", "64"}.
using ReplicaSettings = std::vector<std::pair<std::string, std::string>>;

// "adam 0.001, 0.9, 0.999, 1e-08": the optimizers of these variables, each once.
std::string describe_optimizers(const OptimizerChoice& choice, const std::vector<Variable>& variables);
// "synchronous, all gradients", "bounded staleness 2", ...
std::string describe_strategy(const Strategy& strategy);

// At each replica: tells the settings to whoever asks, while the server is there.
void publish_settings(Server& server, const ReplicaSettings& settings);

// At another replica than the chief. Throws failed_precondition if a setting differs from the chief's:
// with each name, and both tasks and values. If the chief has made no step by then, all other tasks fail
// for the same reason. Returns without a word if the chief does not answer now: a later session asks
// again.
void expect_settings_of(Server& server, const TaskName& chief, const ReplicaSettings& own);

}  // namespace actorflow

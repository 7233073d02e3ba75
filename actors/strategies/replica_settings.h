// What the tasks of a job must have in common. A replica with another optimizer, or another number of
// steps, would train something else in silence, or let the others wait for ever. A parameter server
// needs no settings; what it was given must not contradict those of the replicas.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "actors/task/server.h"
#include "dataflow/train/optimizer_choice.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

// Names and values, as people write them: {"batch_size", "64"}.
using ReplicaSettings = std::vector<std::pair<std::string, std::string>>;

// "adam 0.001, 0.9, 0.999, 1e-08"
std::string describe_optimizer(const Optimizer& optimizer);
// The optimizers of these variables, each once, divided by "; ".
std::string describe_optimizers(const OptimizerChoice& choice, const std::vector<Variable>& variables);
// "synchronous, all gradients", "bounded staleness 2", ...
std::string describe_strategy(const Strategy& strategy);

// Tells the settings of this task to whoever asks, while the server is there. Call it once.
void publish_settings(Server& server, const ReplicaSettings& settings);

// At another task than the chief. Throws failed_precondition if a setting differs from the chief's: with
// each name, and both tasks and values. If the chief has made no step by then, all other tasks fail for
// the same reason. Returns whether the chief has answered in time: a replica asks again in a later
// session.
bool expect_settings_of(Server& server, const TaskName& chief, const ReplicaSettings& own,
                        std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace actorflow

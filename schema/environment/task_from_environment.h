// Which task of a cluster this process is, by its environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "dataflow/cluster/task_config.h"
#include "schema/environment/launched_rank.h"

namespace actorflow {

// Whether the environment names a task: in TF_CONFIG, or because a launcher such as mpirun or srun has
// started this process as one of several, or as one of an elastic job (elastic_link.h). Throws as
// launched_rank().
bool has_task_in_environment();

// The task: by TF_CONFIG if that is set, else by the launcher, after the ranks have met (rendezvous.h);
// nothing for a process that runs alone. Ranks are the workers 0, 1, ..., the last ACTORFLOW_PS of them
// parameter servers 0, 1, ... The port of a rank stays reserved until its process ends. Thread-safe: the
// first call meets the others, later ones know the answer; each rank has to call.
//
// ACTORFLOW_MEETING_TIMEOUT: how many seconds ranks wait for each other; without it 60. `on_wait` is
// told for whom, as RendezvousOptions says; without it, that goes to standard error. Throws what
// parse_tf_config(), launched_rank() and meet() throw, and failed_precondition for a task of an elastic
// job, whose cluster changes while it runs.
std::optional<TaskConfig> task_from_environment(
    const std::function<void(const std::string&)>& on_wait = {});

// The role of a rank, given the addresses of all.
TaskConfig task_of_rank(const LaunchedRank& self, const std::vector<std::string>& addresses);

}  // namespace actorflow

// Which task of the parameter server job holds which variable.
#pragma once

#include <functional>
#include <string>

#include "dataflow/graph/graph.h"

namespace actorflow {

// Chooses the task of a variable by its ReadVariable node, whose type is known and whose device has what
// inner scopes asked for. Called once per variable, in the order in which a program makes them, so that
// every replica that builds the same graph comes to the same places.
using PsStrategy = std::function<int(const Node& variable)>;

// One task after the other. A model whose layers have one matrix and one vector each can so get all
// matrices on one of two tasks.
PsStrategy round_robin(int ps_tasks);

// The task with the least bytes so far, the lowest of equals. Counts values only: what optimizers keep
// beside them is the same multiple of every trained variable (slot_names() in optimizer.h).
PsStrategy greedy_by_bytes(int ps_tasks);

// "round_robin" or "greedy". Throws invalid_argument that lists the names.
PsStrategy make_ps_strategy(std::string_view name, int ps_tasks);

// Puts variables on the tasks of a parameter server job, by default in turn, and everything else on
// `worker_device`. Only what inner device scopes leave open is filled: a variable that names another
// job, or a task, is left where it is and takes no turn. Copies share the strategy's state. With
// ps_tasks = 0 it leaves every node open. Throws invalid_argument for a bad job name, a negative number
// of tasks and, when a variable is made, a task outside of the job that the strategy chose.
DeviceFunction replica_device_setter(int ps_tasks, const std::string& ps_job = "ps",
                                     const std::string& worker_device = "", PsStrategy strategy = {});

}  // namespace actorflow

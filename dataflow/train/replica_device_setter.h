// The choice of a parameter server for each variable.
#pragma once

#include <functional>
#include <string>

#include "dataflow/graph/graph.h"

namespace actorflow {

// Chooses the task of a variable from its ReadVariable node, which has its type and the device that
// inner scopes asked for. Called once per variable, in the order in which a program makes them, so that
// every replica that builds the same graph gets the same placement.
using PsStrategy = std::function<int(const Node& variable)>;

// One task after the other. With two tasks, a model whose layers have one matrix and one vector each
// gets all matrices on one of them.
PsStrategy round_robin(int ps_tasks);

// The task with the fewest bytes so far, the lowest of equals. Counts values only: an optimizer's slots
// are the same multiple of every trained variable (slot_names() in optimizer.h).
PsStrategy greedy_by_bytes(int ps_tasks);

// The strategy "round_robin" or "greedy". Throws invalid_argument that lists the names.
PsStrategy make_ps_strategy(std::string_view name, int ps_tasks);

// A device within whatever task a node is in, "/gpu:0" for "gpu:0", as device scopes take it; "" for "".
// Throws invalid_argument for the name of a task, or of no device.
std::string device_in_task(const std::string& device);

// Puts variables on the tasks of a parameter server job, by default in turn, and everything else on
// `worker_device`. Fills only what inner device scopes leave open: a variable that names another job, or
// a task, stays where it is and takes no turn. Copies share the strategy's state. With ps_tasks = 0 it
// leaves every node open. Throws invalid_argument for a bad job name, a negative number of tasks and,
// when a variable is made, a task outside of the job that the strategy chose.
DeviceFunction replica_device_setter(int ps_tasks, const std::string& ps_job = "ps",
                                     const std::string& worker_device = "", PsStrategy strategy = {});

}  // namespace actorflow

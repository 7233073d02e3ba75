// Data-parallel training between graphs: the part of the graph that each replica adds to its model.
#pragma once

#include <string>
#include <vector>

#include "dataflow/graph.h"
#include "dataflow/optimizer.h"

namespace actorflow {

// The place of one replica among those that train the same variables.
struct Replication {
  int replica = 0;
  int replicas = 1;
  // Asynchronous: each gradient is applied as it comes. Synchronous: the mean of the gradients of a step
  // is applied once `replicas_to_aggregate` (0 = all replicas) of them are there, and a replica begins
  // its next step when all variables have been updated.
  bool sync = false;
  int replicas_to_aggregate = 0;
  // Synchronous, with more gradients per step than replicas: how many steps replicas may take at first
  // without waiting, at least replicas_to_aggregate - replicas.
  int initial_tokens = 0;
};

struct TrainOp {
  Output step;  // int64 scalar: the global step after this step
  // Synchronous: run it once before a replica's first step, when all variables have a value. It makes
  // the replica current; the gradients of one that is behind are dropped. Empty if asynchronous.
  Output local_init;

  operator Output() const { return step; }  // NOLINT: what a program runs to train
};

// The graph's variable "global_step", an int64 scalar that starts at 0; made if it is not there yet.
Variable global_step(Graph& graph);

// Adds what computes the gradients of `loss` and applies them. Updates are on the devices of their
// variables; counting and the barrier on that of the global step, which in the synchronous case needs to
// name a task for other tasks to find the barrier; the replica's own state on the device of the loss.
// Variables that the loss does not depend on are left alone.
// Throws invalid_argument if it depends on none, or if the replication makes no sense.
TrainOp minimize(Graph& graph, Output loss, const std::vector<Variable>& variables, Variable global_step,
                 const Optimizer& optimizer, const Replication& replication = {});

// Puts variables on the tasks of a parameter server job in turn, and everything else on `worker_device`.
// Copies share the turn. Fields that an inner device scope names win. With ps_tasks = 0 it leaves every
// node open.
DeviceFunction replica_device_setter(int ps_tasks, const std::string& ps_job = "ps",
                                     const std::string& worker_device = "");

}  // namespace actorflow

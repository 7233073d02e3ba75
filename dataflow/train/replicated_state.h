// The state of replicas that each have all variables.
#pragma once

#include <string>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

// A node that copies the variables of the first replica, with their optimizers' slots, to this one. The
// first replica only sends them; with AllReduce::local_steps its values become those that were agreed
// on. Slots that training divides among the replicas are divided anew: each replica, the first one too,
// gets its slices. So call this after training has been added to the graph. All replicas run the node at
// once, before their first step and after a failure: it begins the life of the group whose nodes train
// (GroupLife in collective_ops.h). `tasks` are the replicas' tasks, in order.
Output copy_state_of_first(Graph& graph, const std::vector<Variable>& variables,
                           const std::vector<std::string>& tasks, int replica);

// The variables and slots as bytes, uint8 [n], for assign_state() in a graph with variables of the same
// types, in this process or another one of the job. The node is on the device in scope. Slots that
// training divides among replicas are put together from those of all replicas, which must be there.
Output read_state(Graph& graph, const std::vector<Variable>& variables);
// Sets all variables and slots from `bytes`, uint8 [n], that read_state() has made. If the node fails it
// has changed none.
Output assign_state(const Output& bytes, const std::vector<Variable>& variables);

// For assignments that a step makes besides the optimizers' updates, such as moving averages of layers:
// the nodes to run with the training op. With all-reduce they are copies of the assignments that run
// once no other replica can make the step fail any more (TrainOp::agreed); otherwise they are the
// assignments themselves.
std::vector<Output> with_step(const TrainOp& train, const std::vector<Output>& assignments);

}  // namespace actorflow

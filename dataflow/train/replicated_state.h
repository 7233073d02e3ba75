// The state of replicas that each have all variables.
#pragma once

#include <string>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

// A node that gives this replica the variables of the first one, with their optimizers' slots; the first
// one only hands them out, after it has made its values those that were agreed on
// (AllReduce::local_steps). Of slots that the graph's training divides among the replicas each gets its
// slices, the first one too; call it after training has been added. All replicas run it at once, before
// their first step and after a failure: it begins the life of the group whose nodes train
// (collective_ops.h). `tasks` are those of the replicas, in order.
Output copy_state_of_first(Graph& graph, const std::vector<Variable>& variables,
                           const std::vector<std::string>& tasks, int replica);

// The same state as bytes, uint8 [n], which assign_state() of a graph with variables of the same types
// takes, in this process or another one of the job. The node is on the device in scope.
Output read_state(Graph& graph, const std::vector<Variable>& variables);
// Gives all variables and slots what `bytes`, uint8 [n], says, or, if it fails, none.
Output assign_state(const Output& bytes, const std::vector<Variable>& variables);

// The assignments to variables that a step makes besides the optimizers', such as averages of layers, as
// they go with the training op: copies of them which run once nothing of the step can fail on another
// replica. Without all-reduce the same as they are.
std::vector<Output> with_step(const TrainOp& train, const std::vector<Output>& assignments);

}  // namespace actorflow

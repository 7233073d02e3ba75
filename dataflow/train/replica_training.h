// What a replica adds to its graph, for each strategy. For the sources of this folder only.
#pragma once

#include <string>
#include <vector>

#include "dataflow/train/replicate.h"

namespace actorflow {

struct Training {
  Graph& graph;
  std::vector<GradientAndVariable> updates;
  std::string worker;  // the device of the replica's own state
  Variable global_step;
  const OptimizerChoice& optimizer;
  const Replication& replication;
  Output learning_rate;  // or empty
};

// Adds the nodes of a training step. `strategy`: that of `training.replication`.
TrainOp add_training(const Training& training, const Asynchronous& strategy);
TrainOp add_training(const Training& training, const BoundedStaleness& strategy);
TrainOp add_training(const Training& training, const Synchronous& strategy);
TrainOp add_training(const Training& training, const AllReduce& strategy);
// The same for AllReduce::local_steps.
TrainOp add_local_training(const Training& training, const AllReduce& strategy);

}  // namespace actorflow

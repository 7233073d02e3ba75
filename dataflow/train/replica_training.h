// What a replica adds to its graph, for each strategy. For replicate.cpp and those
// that define them only.
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

// Its nodes, by the strategy of `training.replication`.
TrainOp add_training(const Training& training, const Asynchronous& strategy);
TrainOp add_training(const Training& training, const BoundedStaleness& strategy);
TrainOp add_training(const Training& training, const Synchronous& strategy);
TrainOp add_training(const Training& training, const AllReduce& strategy);
// With AllReduce::local_steps: local_training.cpp.
TrainOp add_local_training(const Training& training, const AllReduce& strategy);

}  // namespace actorflow

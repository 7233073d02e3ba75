// The nodes that a replica adds to its graph, for each kind of replication. For replicate.cpp only.
#pragma once

#include <string>
#include <vector>

#include "dataflow/train/replicate.h"

namespace actorflow {

struct Training {
  Graph& graph;
  const std::vector<GradientAndVariable>& updates;
  std::string worker;  // the device of the replica's own state
  Variable global_step;
  const Optimizer& optimizer;
  const Replication& replication;
  Output learning_rate;  // or empty
};

TrainOp train_asynchronously(const Training& training);  // also with bounded staleness
TrainOp train_synchronously(const Training& training);

}  // namespace actorflow

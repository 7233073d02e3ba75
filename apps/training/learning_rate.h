// The optimizer and the learning rate of a training, for people.
#pragma once

#include <string>

#include "apps/training/train_replica.h"

namespace actorflow {

// "adam"; "muon of matrices and adam of other variables".
std::string describe_optimizer_of(const TrainOptions& options);

// "0.001"; of a schedule its first rate and what it becomes: "0.15 at first, 0.75 after 120 steps and
// 0.0526 at the end". REQUIRES: the number of steps is known.
std::string describe_learning_rate(const TrainOptions& options);

}  // namespace actorflow

// The evaluator: a task beside the cluster that tests the chief's checkpoints.
#pragma once

#include <atomic>

#include "apps/training/data/images.h"
#include "apps/training/train_replica.h"

namespace actorflow {

// Waits for checkpoints in the options' folder and computes the accuracy on the test images of each new
// one, the newest first. Prints the accuracy, and notes the last evaluated checkpoint in the folder, so
// that a restarted evaluator does not repeat it. Returns when training is complete (training_end.h) and
// the last checkpoint has been evaluated, or when `interrupted` becomes true. Skips a checkpoint that is
// removed while it is read. Throws data_loss if the last one is damaged.
void evaluate_checkpoints(const LabelledData& data, const TrainOptions& options,
                          const std::atomic<bool>& interrupted);

}  // namespace actorflow

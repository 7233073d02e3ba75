// The evaluator: a task beside the cluster that tests what the chief saves.
#pragma once

#include <atomic>

#include "apps/training/mnist.h"
#include "apps/training/train_replica.h"

namespace actorflow {

// Waits for checkpoints in the options' folder and computes the accuracy on the test images of each new
// one, the newest first; prints it, and remembers in the folder which was the last, so that an evaluator
// that is started again does not repeat it. Returns once training is complete (training_end.h) and it
// has evaluated the last checkpoint, or `interrupted` became true. A checkpoint that is removed while it
// is read is left for its successor. Throws data_loss if the last one is damaged.
void evaluate_checkpoints(const Mnist& data, const TrainOptions& options,
                          const std::atomic<bool>& interrupted);

}  // namespace actorflow

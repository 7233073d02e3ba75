// A whole parameter-server cluster in this process.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "apps/training/train_replica.h"

namespace actorflow {

// Runs train_replica on `workers` workers, each with a thread, and `ps` parameter servers. Returns the
// chief's report, nothing if interrupted. Throws the first error of a replica. `started` is called with
// a function that ends training at once, from any thread, and after training with an empty one.
std::optional<TrainReport> train_locally(int ps, int workers, const LabelledData& data,
                                         const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress,
                                         const std::function<void(std::function<void()>)>& started);

}  // namespace actorflow

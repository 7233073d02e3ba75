// Gradient accumulation as a person would write it: a session per micro-batch, sums on the host.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "actors/models/model.h"

namespace actorflow::test {

// Trains the architecture as Model::fit() would without shuffling, each batch in `parts` micro-batches
// of the same size, but for those that the last batch of an epoch lacks. Returns the variables.
// REQUIRES: options with one loss; without penalties, weights of examples, clipping and a schedule.
std::map<std::string, Tensor> train_by_hand(const Architecture& architecture,
                                            const CompileOptions& options, const Tensor& x,
                                            const Tensor& y, int epochs, std::int64_t batch_size,
                                            std::int64_t parts);

}  // namespace actorflow::test

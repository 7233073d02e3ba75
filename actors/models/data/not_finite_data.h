// Looks for data that are not finite where training has failed for want of finite numbers. For
// actors/models only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "actors/models/data/batches.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Where a step has failed: the batches of an epoch that it may have been, `last` included.
struct FailedBatches {
  int epoch = 1;
  std::int64_t first = 0, last = 0;
};

// The error of a failed step with what the data of its batch have to do with it: which tensor of which
// example is not finite, or that all are finite. Reads the batches anew, so that steps that succeed cost
// nothing; where that fails, and for other errors than not_finite, the error as it is. `inputs` and
// `labels` are the model's numbers of them.
Error with_blame(const Error& error, const std::function<FitBatches()>& batches,
                 const FailedBatches& where, std::size_t inputs, std::size_t labels);
// The same for a batch that is at hand.
Error with_blame(const Error& error, const Tuple& batch, std::size_t inputs, std::size_t labels);

}  // namespace actorflow

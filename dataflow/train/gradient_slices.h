// Which rank updates which elements of which variable, where the optimizer is sharded: planned once,
// from the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/ops/optimizer.h"
#include "dataflow/train/strategy.h"

namespace actorflow {

// Gradients that travel together, and are of variables with one optimizer.
struct SlicedBucket {
  std::vector<std::size_t> members;   // in the order in which their elements follow each other
  std::vector<std::int64_t> borders;  // SlicedVariables::borders of the members
};

// The buckets of gradient_buckets.h, but each of variables with one optimizer, for the ranks
// `options.tasks`. `members` are positions in `gradients`; `optimizers` has that of each gradient's
// variable. REQUIRES: shapes that are fully known.
std::vector<SlicedBucket> plan_slices(std::span<const Output> gradients,
                                      std::span<const Optimizer> optimizers, const AllReduce& options);

// Whether the optimizer is known to compute each element of a variable by itself: a slice of the update
// is then the update of the slice. False for one of a program's own.
bool is_elementwise(const Optimizer& optimizer);

}  // namespace actorflow

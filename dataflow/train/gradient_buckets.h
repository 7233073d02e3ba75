// Which gradients travel together in an all-reduce: planned once, from the graph.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/train/strategy.h"

namespace actorflow {

// Positions in `gradients`. A bucket's gradients follow each other in the order in which
// back-propagation computes them, have one dtype, and at most the bytes that the options say; one that
// is larger, or has `alone_bytes`, is a bucket of its own. Buckets are in the order in which they become
// full. REQUIRES: shapes that are fully known.
std::vector<std::vector<std::size_t>> plan_buckets(std::span<const Output> gradients,
                                                   const AllReduce& options);

}  // namespace actorflow

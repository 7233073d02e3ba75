// Buckets: which gradients travel together in an all-reduce, planned once from the graph; and the means
// over the replicas.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/ops/collective_ops.h"
#include "dataflow/train/strategy.h"

namespace actorflow {

// Positions in `gradients`. A bucket's gradients follow each other in the order in which
// back-propagation computes them, have one dtype, and at most the bytes that the options say; one that
// is larger, or has `alone_bytes`, is a bucket of its own. Buckets are in the order in which they become
// full. REQUIRES: shapes that are fully known.
std::vector<std::vector<std::size_t>> plan_buckets(std::span<const Output> gradients,
                                                   const AllReduce& options);

// The reduction that takes the mean over the replicas of gradients of this dtype.
GraphReduce mean_over_replicas(const AllReduce& options, DType dtype);

struct ReducedMeans {
  std::vector<Output> means;  // of each tensor
  std::vector<Output> ends;   // one node of each operation
};
// The means over the replicas of `tensors`, in buckets. The operations' names begin with `scope`. The
// nodes take the device in scope.
ReducedMeans reduced_means(std::span<const Output> tensors, const AllReduce& options,
                           const std::string& scope);

}  // namespace actorflow

// The accumulator of one variable in synchronous training: it gathers the gradients of a step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataflow/tensor.h"

namespace actorflow {

// A gradient counts only if it was computed at the accumulator's step or later; older ones are
// dropped and counted. Follows TensorFlow's ConditionalAccumulator. Not thread-safe: it belongs to a
// shard.
class Accumulator {
 public:
  // False if the gradient is stale.
  bool add(int replica, std::int64_t local_step, Tensor gradient);
  std::size_t size() const { return gradients_.size(); }
  bool has(int replica) const;
  // The gathered gradients in the order of their replicas, so that their sum does not depend on who
  // came first. Moves the accumulator to the step after.
  std::vector<Tensor> take();
  // Only gradients of this global step or later count from now on.
  std::int64_t global_step() const { return global_step_; }
  std::int64_t dropped() const { return dropped_; }

 private:
  struct Entry {
    int replica;
    std::int64_t local_step;
    Tensor gradient;
  };
  std::vector<Entry> gradients_;
  std::int64_t global_step_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace actorflow

// Strategies of data-parallel training: when the gradients of replicas are applied, and who waits for
// whom.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dataflow/collectives/agreement.h"
#include "dataflow/ops/optimizer.h"

namespace actorflow {

// Each gradient is applied as it comes.
struct Asynchronous {
  bool operator==(const Asynchronous&) const = default;
};

// The same, but no replica begins a step that is more than `bound` steps ahead of the slowest one that
// takes part; with 0 all do the same step at the same time. A replica takes part from
// TrainOp::local_init until TrainOp::leave, or until its task is lost. (Ho et al., More Effective
// Distributed ML via a Stale Synchronous Parallel Parameter Server, NIPS 2013.)
struct BoundedStaleness {
  int bound = 0;

  bool operator==(const BoundedStaleness&) const = default;
};

// The mean of the gradients of a step is applied once `replicas_to_aggregate` (0 = all replicas) of them
// are there, and a replica begins its next step when all variables have been updated.
struct Synchronous {
  int replicas_to_aggregate = 0;
  // How many steps replicas may take at first without waiting: at least replicas_to_aggregate -
  // replicas, where a step needs more gradients than there are replicas.
  int initial_tokens = 0;

  bool operator==(const Synchronous&) const = default;
};

// Every replica has all variables on its own task, and applies the mean of the gradients of a step,
// which the tasks compute together by all-reduce. A step takes a gradient of every replica, and gives
// the bits that it has with Synchronous. Gradients travel in buckets (gradient_buckets.h), in the order
// in which back-propagation computes them, each as soon as it is full.
struct AllReduce {
  // The replicas' tasks, "/job:worker/task:0", in order. run_replica() fills them in.
  std::vector<std::string> tasks{};
  std::int64_t first_bucket_bytes = 1 << 20;  // small, so that the network begins early
  std::int64_t bucket_bytes = 25 << 20;
  // A gradient of so many bytes travels alone: a message's latency counts for little then, and copying
  // it into a bucket and out again would cost more.
  std::int64_t alone_bytes = 256 << 10;
  // Divides what the optimizer keeps, and its work, by the number of replicas (ZeRO stage 1: Rajbhandari
  // et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, 2020, section 5.1). A
  // bucket is reduced and scattered, each rank updates its slice, and the slices are gathered: the same
  // bytes, and the same bits. Optimizers that compute each element by itself have equal slices; those
  // that need a whole variable (Lamb, Muon, a program's own) whole variables, about as many bytes on
  // each rank. Tables with row-sparse gradients keep whole slots everywhere. With a transformation of
  // the means (Replication::transform) each rank gets whole means: half as many bytes more. After the
  // loss of a rank, whose slots are gone with it, all go on from the newest checkpoint; without one with
  // the values that the first rank has, and slots that start anew.
  bool sharded_optimizer = false;
  // Of gradients in float32, half the bytes as bfloat16; a sharded optimizer's new values travel as they
  // are. Every replica applies the same bits, but not those that it would apply without. For networks:
  // on one machine rounding takes longer than it saves.
  ReduceCompression compression = ReduceCompression::none;
  // More than 1: each replica applies its own gradients, and after so many steps, and after the last
  // one, the replicas agree (local SGD; TrainOp::agree). The mean of what they have changed since they
  // agreed last is the gradient of the outer optimizer, which updates what they agreed on, and from
  // there all go on. With the outer optimizer here this is DiLoCo (Douillard et al., DiLoCo: Distributed
  // Low-Communication Training of Language Models, 2023, algorithm 1); with a rate of 1 and no momentum
  // all go on from their mean (Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019). What
  // a replica's own optimizer keeps stays its own. After the loss of a replica all go on from what the
  // first one has, what others have learned since they agreed is lost, and the outer momentum begins
  // anew. fit() agrees at the end of each epoch, too. A checkpoint in the middle of a round has what the
  // first one has, and so has the last one of a chief that is interrupted. Not with sharded_optimizer.
  int local_steps = 1;
  Nesterov outer{.learning_rate = 0.7, .momentum = 0.9};

  bool operator==(const AllReduce&) const = default;
};

using Strategy = std::variant<Asynchronous, BoundedStaleness, Synchronous, AllReduce>;

// Each step takes a gradient of every replica, or of as many as Synchronous says.
inline bool is_synchronous(const Strategy& strategy) {
  return std::holds_alternative<Synchronous>(strategy) || std::holds_alternative<AllReduce>(strategy);
}
inline bool is_all_reduce(const Strategy& strategy) {
  return std::holds_alternative<AllReduce>(strategy);
}
// Whether the replicas agree after the step with this number, counted from 1, of so many: with
// AllReduce::local_steps.
inline bool is_agreement(const AllReduce& strategy, std::int64_t step, std::int64_t steps) {
  return step % strategy.local_steps == 0 || step == steps;
}

}  // namespace actorflow

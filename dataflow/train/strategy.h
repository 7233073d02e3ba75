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
  // Divides the optimizer's slots, and its work, among the replicas (ZeRO stage 1: Rajbhandari et al.,
  // ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, 2020, section 5.1). A bucket
  // is reduced and scattered, each rank updates its slice, and the slices are gathered: the same bytes,
  // and the same bits. If the optimizer computes each element by itself, all slices are of equal size;
  // one that needs a whole variable (Lamb, Muon, a program's own) gets whole variables, about as many
  // bytes on each rank. Tables with row-sparse gradients keep whole slots on every rank. With a
  // transformation of the means (Replication::transform) each rank receives whole means, which sends
  // half as many bytes more. A lost rank takes its slots with it: then all go on from the newest
  // checkpoint or, if there is none, with the values of the first rank and new slots.
  bool sharded_optimizer = false;
  // bfloat16 halves the bytes of float32 gradients; the new values of a sharded optimizer are not
  // compressed. All replicas still apply the same bits, though other ones than without compression. It
  // pays on networks: within one machine rounding takes longer than it saves.
  ReduceCompression compression = ReduceCompression::none;
  // More than 1: each replica applies its own gradients, and the replicas agree after every so many
  // steps and after the last one (local SGD; TrainOp::agree). To agree is to average how far the
  // replicas have moved since they agreed last, and to give that mean as a gradient to the outer
  // optimizer, which updates the values that were agreed on; all replicas go on from the result. With
  // the outer optimizer below this is DiLoCo (Douillard et al., DiLoCo: Distributed Low-Communication
  // Training of Language Models, 2023, algorithm 1); with a rate of 1 and no momentum all go on from
  // their mean (Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019). Each replica keeps
  // the slots of its own optimizer. After the loss of a replica all go on from the values of the first
  // replica: what others have learned since they agreed is lost, and the outer momentum begins anew.
  // fit() agrees at the end of each epoch, too. A checkpoint between two agreements has the values of
  // the first replica; so has the last checkpoint of a chief that is interrupted. Not with
  // sharded_optimizer.
  int local_steps = 1;
  Nesterov outer{.learning_rate = 0.7, .momentum = 0.9};

  bool operator==(const AllReduce&) const = default;
};

using Strategy = std::variant<Asynchronous, BoundedStaleness, Synchronous, AllReduce>;

// Whether each step takes a gradient of every replica, or of as many replicas as Synchronous says.
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

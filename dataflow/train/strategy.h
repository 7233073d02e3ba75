// Strategies of data-parallel training: when the gradients of replicas are applied, and who waits for
// whom.
#pragma once

#include <variant>

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

using Strategy = std::variant<Asynchronous, BoundedStaleness, Synchronous>;

inline bool is_synchronous(const Strategy& strategy) {
  return std::holds_alternative<Synchronous>(strategy);
}

}  // namespace actorflow

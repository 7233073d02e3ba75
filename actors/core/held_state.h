// Counts of what the actors of a task hold at a moment.
#pragma once

#include <cstddef>

namespace actorflow {

// The counts. All are 0 when every session is closed and every step has ended.
struct HeldState {
  std::size_t sessions = 0;           // of the master
  std::size_t plans = 0;              // steps of sessions that the master knows how to run
  std::size_t steps = 0;              // that the master has under way
  std::size_t graphs = 0;             // partitions that the worker keeps for masters
  std::size_t running = 0;            // partitions that the worker runs now
  std::size_t waiting_transfers = 0;  // of the rendezvous: tensors and Recvs that wait for each other

  HeldState& operator+=(const HeldState& other) {
    sessions += other.sessions;
    plans += other.plans;
    steps += other.steps;
    graphs += other.graphs;
    running += other.running;
    waiting_transfers += other.waiting_transfers;
    return *this;
  }
  bool operator==(const HeldState&) const = default;
};

}  // namespace actorflow

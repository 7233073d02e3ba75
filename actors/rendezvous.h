// Where tensors of a step that come from other partitions meet the Recv nodes that want them.
#pragma once

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <deque>
#include <map>
#include <unordered_map>

#include "actors/messages.h"
#include "actors/placement.h"

namespace actorflow {

// One table per step; either side may come first; per channel first in, first out. A step that is given
// up is poisoned: who waits, and who asks later, gets the reason, and what still arrives is dropped.
class Rendezvous {
 public:
  caf::behavior behavior();

 private:
  struct Channel {
    std::deque<Tensor> tensors;
    std::deque<ReplyTo> waiting;
    bool empty() const { return tensors.empty() && waiting.empty(); }
  };
  using Table = std::map<std::uint32_t, Channel>;

  void deliver(TensorDelivery& delivery);
  void await(const AwaitTensor& request);
  void poison(const GiveUp& message);
  // Meets what is there; forgets the channel, and the step, when nothing is left.
  void settle(StepId step, std::uint32_t channel);

  std::unordered_map<StepId, Table> steps_;
  std::unordered_map<StepId, Status> poisoned_;
  std::deque<StepId> poisoned_order_;  // oldest first, so that old ones can be forgotten
};

using RendezvousActor = caf::stateful_actor<Rendezvous, LightActor>;
caf::behavior rendezvous_actor(RendezvousActor* self);

}  // namespace actorflow

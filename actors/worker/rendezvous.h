// The rendezvous: tensors of a step from other partitions meet the Recv nodes that want them.
#pragma once

#include <caf/stateful_actor.hpp>
#include <deque>
#include <map>
#include <memory>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

// One table per step. Either side may come first, a tensor may come before its step, and each channel is
// first in, first out. A step that is given up is poisoned: waiting and later Recvs fail with the
// reason, and tensors that still arrive are dropped. Poison is forgotten after two ticks of a minute, or
// when there is much of it. Tensors that have waited for a tick while their step does not run here are
// dropped: their master has gone.
class Rendezvous {
 public:
  Rendezvous(GuardedActor* self, TaskRef task) : self_(self), task_(std::move(task)) {}

  caf::behavior behavior();
  // A tensor is lost: gives up its step.
  void refuse(const Sender&, const TensorDelivery& delivery, Status why) {
    poison({delivery.step, std::move(why)});
  }

 private:
  struct Channel {
    std::deque<Tensor> tensors;
    std::deque<ReplyTo> waiting;
    bool empty() const { return tensors.empty() && waiting.empty(); }
  };
  struct Table {
    std::map<std::uint32_t, Channel> channels;
    bool old = false;  // existed at the last tick
  };
  struct Poison {
    StepId step = 0;
    std::int64_t tick = 0;
  };

  void deliver(TensorDelivery& delivery);
  void await(const AwaitTensor& request);
  void poison(const GiveUp& message);
  // Pairs the tensors and Recvs of a channel; removes the channel, and the step, when nothing is left.
  void settle(StepId step, std::uint32_t channel);
  void forget_oldest_poison();
  void on_tick();
  // Asks the worker about steps whose tensors nobody has claimed for a tick.
  void ask_for_claims();
  HeldState census() const;

  GuardedActor* self_;
  TaskRef task_;
  std::map<StepId, Table> steps_;
  std::map<StepId, Status> poisoned_;
  std::deque<Poison> poisoned_order_;  // oldest first
  std::int64_t ticks_ = 0;
};

using RendezvousActor = caf::stateful_actor<std::unique_ptr<Rendezvous>, LightActor>;
caf::behavior rendezvous_actor(RendezvousActor* self, TaskRef task);

}  // namespace actorflow

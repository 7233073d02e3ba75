// Steps that begin when a shard has made the updates of those before them.
#pragma once

#include <caf/mailbox_element.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/core/messages.h"
#include "actors/shard/state.h"

namespace actorflow {

// Belongs to a shard. No step waits for ever: a contribution that is waited for is applied, or goes with
// its variable, or the step is given up.
//
// With many replicas most of them wait while the gradients of the last ones come. So each waits for one
// variable at a time, beside the others that do, and nobody looks at them until that variable's
// accumulator holds fewer gradients than before.
class AwaitedUpdates {
 public:
  // Answers at once if there is nothing to wait for.
  void add(const AwaitUpdates& request, ShardState& shard);
  void give_up(StepId step);
  // Answers the steps for which nothing is left to wait for. Call after whatever changes variables.
  void answer(ShardState& shard) noexcept;

 private:
  struct Waiting {
    StepId step = 0;
    std::shared_ptr<const Executable> executable;  // keeps the nodes
    std::vector<const Node*> contributions;
    std::size_t made = 0;             // of them, from the first on
    caf::mailbox_element_ptr answer;  // allocated before, so that sending it cannot fail
  };
  using WaitingRef = std::unique_ptr<Waiting>;
  // The steps that wait for a variable, and what they were last compared with.
  struct Queue {
    std::vector<WaitingRef> steps;
    std::int64_t global_step = 0;  // of its accumulator
    std::size_t gradients = 0;     // there
  };

  void make_room(const Waiting& waiting);
  // Answers the step, or puts it into the queue of the first variable that it waits for. Takes no
  // memory.
  void place(WaitingRef waiting, ShardState& shard) noexcept;
  // Whether the accumulator of the queue's variable may have lost gradients since the last look.
  static bool is_changed(Queue& queue, ShardState& shard, const std::string& variable);

  std::map<std::string, Queue, std::less<>> queues_;  // by variable
  std::vector<WaitingRef> looked_at_;                 // empty between calls
  std::size_t waiting_ = 0;                           // in all queues
  std::size_t room_ = 0;                              // of each vector above: no less than waiting_
};

}  // namespace actorflow

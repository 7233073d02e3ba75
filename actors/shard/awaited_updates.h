// Steps that begin when a shard has made the updates of those before them.
#pragma once

#include <caf/mailbox_element.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "actors/core/messages.h"
#include "actors/shard/state.h"

namespace actorflow {

// Belongs to a shard. No step waits for ever: a contribution that is waited for is applied, or goes with
// its variable, or the step is given up.
class AwaitedUpdates {
 public:
  void add(const AwaitUpdates& request);
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

  std::vector<Waiting> waiting_;
};

}  // namespace actorflow

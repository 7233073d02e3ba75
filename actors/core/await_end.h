// Ends actors and waits for that, for a thread that is not an actor.
#pragma once

#include <atomic>
#include <caf/actor.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "actors/runtime/runtime.h"

namespace actorflow {

// Calls `end`, which makes the actors end, and waits until all of them have ended.
inline void await_end(Runtime& runtime, const std::vector<caf::actor>& actors,
                      const std::function<void()>& end) {
  runtime.wait([&](Waker& waker) {
    const auto left = std::make_shared<std::atomic<std::size_t>>(actors.size());
    for (const auto& actor : actors)
      actor->attach_functor([left, &waker] {
        if (--*left == 0) waker.wake();
      });
    end();
  });
}

}  // namespace actorflow

// Ends actors and waits for that, for a thread that is not an actor.
#pragma once

#include <sched.h>

#include <caf/actor.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "actors/runtime/runtime.h"

namespace actorflow {

// Does what must be done before an object can go, for destructors: again, as long as there is no memory
// for it.
template <class Action>
void insist(Action action) {
  for (;;) try {
      return action();
    } catch (const std::bad_alloc&) {
      sched_yield();  // a wait of the runtime may need memory itself
    }
}

// Calls `end`, which makes the actors end, and waits until all of them have ended. May be called again
// after it has thrown.
inline void await_end(Runtime& runtime, const std::vector<caf::actor>& actors,
                      const std::function<void()>& end) {
  struct Left {
    std::mutex mutex;
    std::size_t actors = 0;
    Waker* waker = nullptr;  // null: nobody waits any more

    void one_less() {
      const std::lock_guard lock(mutex);
      if (--actors == 0 && waker) waker->wake();
    }
    void forget() {
      const std::lock_guard lock(mutex);
      waker = nullptr;
    }
  };
  runtime.wait([&](Waker& waker) {
    const auto left = std::make_shared<Left>();
    left->actors = actors.size();
    left->waker = &waker;
    try {
      for (const auto& actor : actors) actor->attach_functor([left] { left->one_less(); });
      end();
    } catch (...) {
      left->forget();
      throw;
    }
  });
}

}  // namespace actorflow

// Threads of programs that wait for something that actors change.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "actors/runtime/runtime.h"

namespace actorflow {

// The waiting threads. Everything but wait() is called with the mutex held that guards what they wait
// for.
class ClientQueue {
 public:
  // Waits until ready(), which is called with the mutex held; false if `end` comes first. Calls `begin`
  // once before it waits, unless ready() holds: the actors that this wakes run on the waiting thread.
  // REQUIRES: the caller does not hold the mutex.
  bool wait(Runtime& runtime, std::mutex& mutex, Clock::time_point end,
            const std::function<bool()>& ready, std::function<void()> begin = {});
  // Wakes the waiting threads, which call ready() again.
  void wake_all();

 private:
  void remove(std::mutex& mutex, Waker* waker);

  std::vector<Waker*> waiting_;
};

}  // namespace actorflow

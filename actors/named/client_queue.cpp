#include "actors/named/client_queue.h"

#include <utility>

namespace actorflow {

bool ClientQueue::wait(Runtime& runtime, std::mutex& mutex, Clock::time_point end,
                       const std::function<bool()>& ready, std::function<void()> begin) {
  for (;;) {
    {
      const std::scoped_lock lock(mutex);
      if (ready()) return true;
    }
    Waker* mine = nullptr;
    bool woken = false;
    try {
      woken = runtime.wait_until(
          end,
          [&](Waker& waker) {
            if (begin) std::exchange(begin, nullptr)();
            const std::scoped_lock lock(mutex);
            if (ready()) return waker.wake();
            waiting_.push_back(mine = &waker);
          },
          [&](Waker& waker) { remove(mutex, &waker); });
    } catch (...) {  // A simulation ends the client of a killed task.
      remove(mutex, mine);
      throw;
    }
    if (woken) continue;
    const std::scoped_lock lock(mutex);
    return ready();
  }
}

void ClientQueue::wake_all() {
  for (auto* waker : waiting_) waker->wake();
  waiting_.clear();
}

void ClientQueue::remove(std::mutex& mutex, Waker* waker) {
  const std::scoped_lock lock(mutex);
  std::erase(waiting_, waker);
}

}  // namespace actorflow

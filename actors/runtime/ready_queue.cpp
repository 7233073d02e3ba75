#include "actors/runtime/ready_queue.h"

#include "actors/runtime/thread_affinity.h"

namespace actorflow {

void ReadyQueue::push(caf::resumable* actor) noexcept {
  if (size_ == ring_.size()) grow();
  at(size_++) = actor;
}

caf::resumable* ReadyQueue::pop() {
  if (empty()) return nullptr;
  auto* actor = at(0);
  ++first_;
  --size_;
  return actor;
}

int ReadyQueue::take_light(std::vector<caf::resumable*>& to) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    auto* actor = at(i);
    if (dynamic_cast<LightActor*>(actor))
      to.push_back(actor);
    else
      at(kept++) = actor;
  }
  const std::size_t taken = size_ - kept;
  size_ = kept;
  return static_cast<int>(taken);
}

void ReadyQueue::grow() {
  std::vector<caf::resumable*> larger(2 * ring_.size());
  for (std::size_t i = 0; i < size_; ++i) larger[i] = at(i);
  ring_.swap(larger);
  first_ = 0;
}

}  // namespace actorflow

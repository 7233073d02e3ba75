// Actors that are ready to run, in their order.
#pragma once

#include <caf/resumable.hpp>
#include <cstddef>
#include <vector>

namespace actorflow {

// A ring that takes memory only where more actors are ready at once than ever before, so that adding
// one does not fail: an answer that was prepared, with what it tells of already done, has to arrive
// (PreparedAnswer). Not thread-safe.
class ReadyQueue {
 public:
  bool empty() const { return size_ == 0; }
  // Without memory for it, where that is needed, the process ends.
  void push(caf::resumable* actor) noexcept;
  // The first one; null if there is none.
  caf::resumable* pop();
  // Moves the light actors (thread_affinity.h) to the end of `to`. Returns their number.
  int take_light(std::vector<caf::resumable*>& to);

 private:
  caf::resumable*& at(std::size_t i) { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  void grow();

  std::vector<caf::resumable*> ring_ = std::vector<caf::resumable*>(1024);  // a power of 2
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace actorflow

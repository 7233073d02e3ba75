#include "actors/task/peer_book.h"

namespace actorflow {

const caf::actor& PeerBook::of(TaskId task) {
  Entry& own = entry(task);
  if (const auto* peer = own.peer.load(std::memory_order_acquire)) return *peer;
  const std::lock_guard lock(making_);
  if (const auto* peer = own.peer.load(std::memory_order_relaxed)) return *peer;
  static const caf::actor nobody;
  if (closed_) return nobody;
  const caf::actor& made = peers_.emplace_back(make_(task, {entries_, &own.signs}));
  own.peer.store(&made, std::memory_order_release);
  return made;
}

std::vector<caf::actor> PeerBook::close() {
  const std::lock_guard lock(making_);
  closed_ = true;
  return {peers_.begin(), peers_.end()};
}

}  // namespace actorflow

// The peers of a task. A task of a large cluster talks to few of the others, so each peer is made when
// it is first needed: the memory of all tasks together grows with what they have to do with each other,
// not with the square of their number.
#pragma once

#include <atomic>
#include <caf/actor.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/task/peer.h"

namespace actorflow {

// Thread-safe.
class PeerBook {
 public:
  using Make = std::function<caf::actor(TaskId, std::shared_ptr<PeerSigns>)>;
  // `make` spawns the peer of another task.
  PeerBook(std::size_t tasks, Make make) : entries_(new Entry[tasks]), make_(std::move(make)) {}

  // The peer of another task. After close() it is invalid if there was none: what is sent to it is lost.
  // REQUIRES: the thread may spawn actors (SystemVisit).
  const caf::actor& of(TaskId task);
  PeerSigns& signs(TaskId task) { return entry(task).signs; }
  // Makes no further peers. Returns those that there are.
  std::vector<caf::actor> close();

 private:
  struct Entry {
    PeerSigns signs;
    std::atomic<const caf::actor*> peer{nullptr};
  };
  Entry& entry(TaskId task) { return entries_[static_cast<std::ptrdiff_t>(task)]; }

  const std::shared_ptr<Entry[]> entries_;  // by TaskId; kept by the peers, too
  const Make make_;
  std::mutex making_;
  std::deque<caf::actor> peers_;  // stay where they are
  bool closed_ = false;
};

}  // namespace actorflow

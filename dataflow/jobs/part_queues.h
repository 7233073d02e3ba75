// The parts of a stage that wait for a task to run them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>

namespace actorflow {

// Tasks are numbered from 0 on. No part is added twice. Not thread-safe.
class PartQueues {
 public:
  // The home of a part whose input lies at no task.
  static constexpr int nowhere = -1;
  // Whether the input of the part is there.
  using CanRun = std::function<bool(std::size_t part)>;

  // `bound`: no part runs anywhere but at home.
  explicit PartQueues(bool bound) : bound_(bound) {}

  void add(std::size_t part, int home);
  // A part that is to run again goes before the others, unless it is bound.
  void add_again(std::size_t part, int home);
  // The next part for the task: one that is to run again, then one at home there, then one at home
  // nowhere, then one of the task that has most of them, if it has more than `spare`. Each queue waits
  // for its first part, if that cannot run yet.
  std::optional<std::size_t> take(int task, const CanRun& can_run, std::size_t spare);
  // False if it does not wait, or is not to run again.
  bool remove_again(std::size_t part, int home);
  // False if it does not wait, or is to run again and not bound.
  bool remove(std::size_t part, int home);
  // The parts at home there are at home nowhere from now on, unless they are bound. Returns how many.
  std::size_t leave_home(int task);

  std::size_t size() const { return size_; }

 private:
  using Queue = std::deque<std::size_t>;

  Queue* queue_for(int task, const CanRun& can_run, std::size_t spare);
  Queue& queue_again(int home) { return bound_ ? of_home_[home] : again_; }
  bool remove_from(Queue& queue, std::size_t part);

  const bool bound_;
  Queue again_;
  std::map<int, Queue> of_home_;
  std::size_t size_ = 0;
};

}  // namespace actorflow

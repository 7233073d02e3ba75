#include "dataflow/jobs/part_queues.h"

#include <algorithm>
#include <utility>

namespace actorflow {

void PartQueues::add(std::size_t part, int home) {
  of_home_[home].push_back(part);
  ++size_;
}

void PartQueues::add_again(std::size_t part, int home) {
  queue_again(home).push_back(part);
  ++size_;
}

PartQueues::Queue* PartQueues::queue_for(int task, const CanRun& can_run, std::size_t spare) {
  const auto ready = [&](const Queue& queue) { return !queue.empty() && can_run(queue.front()); };
  if (ready(again_)) return &again_;
  for (const int home : {task, nowhere})
    if (const auto found = of_home_.find(home); found != of_home_.end() && ready(found->second))
      return &found->second;
  const auto longest = std::ranges::max_element(of_home_, {}, [&](const auto& of_home) {
    return ready(of_home.second) ? of_home.second.size() : 0;
  });
  if (longest == of_home_.end() || longest->second.size() <= spare || !ready(longest->second))
    return nullptr;
  return &longest->second;
}

std::optional<std::size_t> PartQueues::take(int task, const CanRun& can_run, std::size_t spare) {
  Queue* const queue = queue_for(task, can_run, spare);
  if (!queue) return std::nullopt;
  const std::size_t part = queue->front();
  queue->pop_front();
  --size_;
  return part;
}

bool PartQueues::remove_from(Queue& queue, std::size_t part) {
  const auto found = std::ranges::find(queue, part);
  if (found == queue.end()) return false;
  queue.erase(found);
  --size_;
  return true;
}

bool PartQueues::remove_again(std::size_t part, int home) {
  return remove_from(queue_again(home), part);
}

bool PartQueues::remove(std::size_t part, int home) { return remove_from(of_home_[home], part); }

std::size_t PartQueues::leave_home(int task) {
  const auto home = of_home_.find(task);
  if (home == of_home_.end() || bound_) return 0;
  const Queue parts = std::move(home->second);
  of_home_.erase(home);
  Queue& anywhere = of_home_[nowhere];
  anywhere.insert(anywhere.end(), parts.begin(), parts.end());
  return parts.size();
}

}  // namespace actorflow

#include "kernels/eager/thread_team.h"

#include <algorithm>

namespace actorflow {

ThreadTeam::ThreadTeam(int threads) {
  for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
}

ThreadTeam::~ThreadTeam() {
  ends_ = true;
  wake();
  for (auto& helper : helpers_) helper.join();
}

void ThreadTeam::run(int parts, const std::function<void(int)>& part) {
  if (parts <= 1 || helpers_.empty()) {
    for (int i = 0; i < parts; ++i) part(i);
    return;
  }
  const auto shared = std::make_shared<TeamParts>(parts, part);
  {
    const std::lock_guard lock(mutex_);
    open_.push_back(shared);
  }
  wake();
  shared->work();
  {
    const std::lock_guard lock(mutex_);
    std::erase(open_, shared);
  }
  shared->wait();
}

void ThreadTeam::wake() {
  ++posted_;
  posted_.notify_all();
}

ThreadTeam::PartsRef ThreadTeam::parts_to_take() {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(open_, [](const auto& parts) { return !parts->all_taken(); });
  return found == open_.end() ? nullptr : *found;
}

// Reads the count before it looks, so that it does not sleep through what comes in between.
void ThreadTeam::help() {
  while (!ends_) {
    const auto seen = posted_.load();
    if (const auto parts = parts_to_take())
      parts->work();
    else if (!ends_)
      posted_.wait(seen);
  }
}

}  // namespace actorflow

#include "kernels/eager/thread_team.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>

#include "dataflow/values/error.h"
#include "kernels/core/polite_search.h"

namespace actorflow {
namespace {

// A program computes its ops one after the other, and to wake a helper takes longer than a small kernel.
constexpr std::chrono::microseconds search_time{100};

}  // namespace

ThreadTeam::ThreadTeam(int threads) {
  try {
    helpers_.reserve(static_cast<std::size_t>(threads));
    while (std::ssize(helpers_) + 1 < threads) helpers_.emplace_back([this] { help(); });
  } catch (const std::exception& error) {
    const auto made = helpers_.size();
    end();
    throw Error(Code::resource_exhausted, "eager ops are to run on " + std::to_string(threads) +
                                              " threads, of which the system "
                                              "gave " +
                                              std::to_string(made + 1) + " (" + error.what() +
                                              "); raise its limit, or set EagerOptions::num_threads");
  }
}

void ThreadTeam::end() {
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
    else
      wait_for_other_than(seen);
  }
}

void ThreadTeam::wait_for_other_than(std::uint32_t seen) {
  const auto is_new = [this, seen] { return ends_ || posted_ != seen; };
  PoliteSearch look(search_time);
  while (!is_new() && look.goes_on()) {
  }
  if (!is_new()) posted_.wait(seen);
}

}  // namespace actorflow

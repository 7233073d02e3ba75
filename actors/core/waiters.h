// Ops that wait at an actor until it can serve them.
#pragma once

#include <deque>
#include <utility>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/runtime/exception_status.h"

namespace actorflow {

// The waiting ops in the order of their arrival. An `Entry` describes one, with a member `reply_to`.
// Belongs to an actor. An exception while an op is served is the answer to it; no op is answered twice.
template <class Entry>
class Waiters {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  void add(Entry entry) { entries_.push_back(std::move(entry)); }

  // Calls `serve` for each op; ops for which it returns true have been answered and are removed.
  template <class Serve>
  void serve(Serve&& serve) {
    for (auto entry = entries_.begin(); entry != entries_.end();)
      entry = served(*entry, serve) ? entries_.erase(entry) : entry + 1;
  }
  // The same, but stops at the first op that cannot be served, so that ops are served in order.
  template <class Serve>
  void serve_in_order(Serve&& serve) {
    while (!entries_.empty() && served(entries_.front(), serve)) entries_.pop_front();
  }

  // Removes the ops of a step that has ended without an answer.
  void give_up(StepId step) {
    std::erase_if(entries_, [step](const Entry& entry) { return entry.reply_to.step == step; });
  }
  // Answers and removes the ops for which `which` is true.
  template <class Which>
  void fail_if(Which&& which, const Status& reason) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      if (!which(*entry)) {
        ++entry;
        continue;
      }
      fail(entry->reply_to, reason);
      entry = entries_.erase(entry);
    }
  }
  void fail_all(const Status& reason) {
    fail_if([](const Entry&) { return true; }, reason);
  }

  // Call it every few seconds. True if an op waits, waited at the last call, and none has been served
  // since.
  bool tick() {
    const bool before = std::exchange(all_waited_, !entries_.empty());
    return before && all_waited_;
  }

 private:
  template <class Serve>
  bool served(const Entry& entry, Serve& serve) {
    try {
      if (!serve(entry)) return false;
    } catch (...) {
      fail(entry.reply_to, current_exception_status());
    }
    all_waited_ = false;
    return true;
  }

  std::deque<Entry> entries_;
  bool all_waited_ = false;  // since the last tick
};

}  // namespace actorflow

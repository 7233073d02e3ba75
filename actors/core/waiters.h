// Ops that wait at an actor for what it will have for them later.
#pragma once

#include <deque>
#include <utility>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/runtime/exception_status.h"

namespace actorflow {

// In the order in which they came. An `Entry` is what the actor must know of one, with a member
// `reply_to`. Belongs to an actor. What is thrown while somebody is served is the answer to that one, and
// nobody is answered twice.
template <class Entry>
class Waiters {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  void add(Entry entry) { entries_.push_back(std::move(entry)); }

  // Calls `serve` for each; those for which it returns true have been answered and wait no longer.
  template <class Serve>
  void serve(Serve&& serve) {
    for (auto entry = entries_.begin(); entry != entries_.end();)
      entry = served(*entry, serve) ? entries_.erase(entry) : entry + 1;
  }
  // The same, but nobody is served before those who came first.
  template <class Serve>
  void serve_in_order(Serve&& serve) {
    while (!entries_.empty() && served(entries_.front(), serve)) entries_.pop_front();
  }

  // The step has ended without its answer.
  void give_up(StepId step) {
    std::erase_if(entries_, [step](const Entry& entry) { return entry.reply_to.step == step; });
  }
  // Those for which `which` is true are told so.
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

  // To be called every few seconds: whether somebody waits, and nobody has been served since the last
  // call, when somebody waited, too.
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

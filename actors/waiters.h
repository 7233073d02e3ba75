// Ops that wait at an actor for what it will have for them later.
#pragma once

#include <deque>
#include <utility>

#include "actors/messages.h"

namespace actorflow {

// In the order in which they came. An `Entry` is what the actor must know of one, with a member
// `reply_to`. Belongs to an actor.
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
    if (std::erase_if(entries_, serve) > 0) all_waited_ = false;
  }
  // The same, but nobody is served before those who came first.
  template <class Serve>
  void serve_in_order(Serve&& serve) {
    for (; !entries_.empty() && serve(entries_.front()); entries_.pop_front()) all_waited_ = false;
  }

  // The step has ended without its answer.
  void give_up(StepId step) {
    std::erase_if(entries_, [step](const Entry& entry) { return entry.reply_to.step == step; });
  }
  // Those for which `which` is true are told so.
  template <class Which>
  void fail_if(Which&& which, const Status& reason) {
    std::erase_if(entries_, [&](const Entry& entry) {
      if (!which(entry)) return false;
      fail(entry.reply_to, reason);
      return true;
    });
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
  std::deque<Entry> entries_;
  bool all_waited_ = false;  // since the last tick
};

}  // namespace actorflow

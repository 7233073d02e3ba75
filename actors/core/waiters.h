// Ops that wait at an actor until it can serve them.
#pragma once

#include <deque>
#include <map>
#include <utility>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {

// What is the same for all waiting ops. An exception while an op is served is the answer to it; no op is
// answered twice.
class Serving {
 public:
  // Whether the op with this entry has been answered.
  template <class Entry, class Serve>
  bool served(const Entry& entry, Serve&& serve) {
    try {
      if (!serve(entry)) return false;
    } catch (...) {
      fail(entry.reply_to, current_exception_status());
    }
    all_waited_ = false;
    return true;
  }
  // True if an op waits, waited at the last call, and none has been served since.
  bool tick(bool anything_waits) {
    const bool before = std::exchange(all_waited_, anything_waits);
    return before && all_waited_;
  }

 private:
  bool all_waited_ = false;  // since the last tick
};

// The waiting ops in the order of their arrival. An `Entry` describes one, with a member `reply_to`.
// Belongs to an actor.
template <class Entry>
class Waiters {
 public:
  auto begin() const { return entries_.begin(); }

  void add(Entry entry) { entries_.push_back(std::move(entry)); }

  // Calls `serve` for each op until it returns false; before that, ops have been answered and are
  // removed.
  template <class Serve>
  void serve(Serve&& serve) {
    while (!entries_.empty() && serving_.served(entries_.front(), serve)) entries_.pop_front();
  }

  // Removes the ops of a step that has ended without an answer.
  void give_up(StepId step) {
    std::erase_if(entries_, [step](const Entry& entry) { return entry.reply_to.step == step; });
  }
  // Answers and removes all ops.
  void fail_all(const Status& reason) {
    for (; !entries_.empty(); entries_.pop_front()) fail(entries_.front().reply_to, reason);
  }

  // Call it every wait_look_interval. True if an op waits, waited at the last call, and none has been
  // served since.
  bool tick() { return serving_.tick(!entries_.empty()); }

 private:
  std::deque<Entry> entries_;
  Serving serving_;
};

// Ops of which one at most waits for each key, such as the number of a replica: to serve one, nobody
// looks at the others. They are served in the order of the keys.
template <class Key, class Entry>
class KeyedWaiters {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  bool contains(const Key& key) const { return entries_.contains(key); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  // Takes the place of the op that waits for the key, which fails for the reason.
  void add(const Key& key, Entry entry, const Status& reason) {
    fail_one(key, reason);
    entries_.emplace(key, std::move(entry));
  }

  // Calls `serve` for the op of the key, if one waits; if it returns true, the op has been answered and
  // is removed.
  template <class Serve>
  void serve_one(const Key& key, Serve&& serve) {
    const auto found = entries_.find(key);
    if (found != entries_.end() && serving_.served(found->second, serve)) entries_.erase(found);
  }
  // The same for each op.
  template <class Serve>
  void serve(Serve&& serve) {
    std::erase_if(entries_, [&](const auto& entry) { return serving_.served(entry.second, serve); });
  }

  // Removes the ops of a step that has ended without an answer.
  void give_up(StepId step) {
    std::erase_if(entries_, [step](const auto& entry) { return entry.second.reply_to.step == step; });
  }
  // Answers and removes the op of the key, if one waits.
  void fail_one(const Key& key, const Status& reason) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    fail(found->second.reply_to, reason);
    entries_.erase(found);
  }
  void fail_all(const Status& reason) {
    while (!entries_.empty()) fail_one(entries_.begin()->first, reason);
  }

  bool tick() { return serving_.tick(!entries_.empty()); }

 private:
  std::map<Key, Entry> entries_;
  Serving serving_;
};

}  // namespace actorflow

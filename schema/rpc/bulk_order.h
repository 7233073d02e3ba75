// What a connection's receiver does in the order that its sender has asked for. Internal to schema/.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "dataflow/error.h"

namespace actorflow {

// Holds back what must come after messages of the bulk lane. The loop's.
class BulkOrder {
 public:
  // True if so many messages have been handed over.
  bool reached(std::uint64_t bulk_messages) const { return bulk_messages <= handed_over_; }
  // Runs the task when `bulk_messages` have been handed over: now or later, in the order of the calls.
  // Throws resource_exhausted if too many wait.
  void run_after(std::uint64_t bulk_messages, std::function<void()> task) {
    if (reached(bulk_messages)) return task();
    if (waiting_.size() == max_waiting)
      throw Error(Code::resource_exhausted, "too many messages wait for large ones that do not come");
    waiting_.emplace_back(bulk_messages, std::move(task));
  }

  // One more message of the bulk lane has been handed over.
  void advance() {
    ++handed_over_;
    auto waiting = std::exchange(waiting_, {});
    for (auto& [after, task] : waiting)
      if (reached(after))
        task();
      else
        waiting_.emplace_back(after, std::move(task));
  }

  void clear() { waiting_.clear(); }

 private:
  static constexpr std::size_t max_waiting = 65'536;

  std::uint64_t handed_over_ = 0;
  std::vector<std::pair<std::uint64_t, std::function<void()>>> waiting_;
};

}  // namespace actorflow

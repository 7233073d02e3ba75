// The order between the lanes of a connection, at its receiver. Internal to schema/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {

// Holds back what must come after messages of the bulk plane. The loop's.
class BulkOrder {
 public:
  // Waiting tasks may hold at most `max_bytes`.
  explicit BulkOrder(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // True if that many messages have been handed over.
  bool reached(std::uint64_t bulk_messages) const { return bulk_messages <= handed_over_; }
  // Runs the task when `bulk_messages` have been handed over: now or later, in the order of the calls.
  // `size_bytes` is the memory that the task holds. Throws resource_exhausted if too many tasks or bytes
  // wait.
  void run_after(std::uint64_t bulk_messages, std::size_t size_bytes, std::function<void()> task) {
    if (reached(bulk_messages)) return task();
    if (waiting_.size() == max_waiting || size_bytes > max_bytes_ - waiting_bytes_)
      throw Error(Code::resource_exhausted, "too many messages wait for large ones that do not come");
    waiting_bytes_ += size_bytes;
    waiting_.push_back({bulk_messages, size_bytes, std::move(task)});
  }

  // One more message of the bulk plane has been handed over.
  void advance() {
    ++handed_over_;
    for (auto& it : std::exchange(waiting_, {})) {
      if (!reached(it.after)) {
        waiting_.push_back(std::move(it));
        continue;
      }
      waiting_bytes_ -= it.size_bytes;
      it.task();
    }
  }

  void clear() {
    waiting_.clear();
    waiting_bytes_ = 0;
  }

 private:
  static constexpr std::size_t max_waiting = 65'536;

  struct Waiting {
    std::uint64_t after = 0;
    std::size_t size_bytes = 0;
    std::function<void()> task;
  };

  const std::size_t max_bytes_;
  std::uint64_t handed_over_ = 0;
  std::size_t waiting_bytes_ = 0;
  std::vector<Waiting> waiting_;
};

}  // namespace actorflow

// Questions to several tasks, done when all have answered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "actors/core/messages.h"

namespace actorflow {

class Inquiries {
 public:
  // Called once: with success, or with the loss of a task that has not answered.
  using Then = std::function<void(const Status&)>;

  // Begins a question and returns its number, which the answers carry, too. REQUIRES: at least one task.
  std::uint64_t begin(const std::vector<TaskId>& tasks, Then then);
  void answered(std::uint64_t number, TaskId task);
  void on_peer_lost(const PeerLost& message);

 private:
  struct Inquiry {
    std::set<TaskId> missing;
    Then then;
  };
  std::map<std::uint64_t, Inquiry> inquiries_;
  std::uint64_t next_ = 1;
};

}  // namespace actorflow

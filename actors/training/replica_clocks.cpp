#include "actors/training/replica_clocks.h"

#include <algorithm>

#include "dataflow/values/check.h"

namespace actorflow {

std::int64_t ReplicaClocks::join(std::int64_t replica) {
  clocks_.erase(replica);
  const std::int64_t start = clocks_.empty() ? 0 : minimum();
  clocks_[replica] = start;
  return start;
}

void ReplicaClocks::advance(std::int64_t replica, std::int64_t clock) {
  auto& own = clocks_.try_emplace(replica, clock).first->second;
  own = std::max(own, clock);
}

bool ReplicaClocks::may_go_on(std::int64_t replica) {
  ACTORFLOW_CHECK(clocks_.contains(replica), "replica", replica, "has not joined");
  const std::int64_t lead = clocks_.at(replica) - minimum();
  if (lead > bound_) return false;
  max_lead_ = std::max(max_lead_, lead);
  return true;
}

std::vector<std::int64_t> ReplicaClocks::slowest() const {
  std::vector<std::int64_t> result;
  for (const auto& [replica, clock] : clocks_)
    if (clock == minimum()) result.push_back(replica);
  return result;
}

std::int64_t ReplicaClocks::minimum() const {
  return std::ranges::min_element(clocks_, {}, [](const auto& entry) { return entry.second; })->second;
}

}  // namespace actorflow

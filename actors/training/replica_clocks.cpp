#include "actors/training/replica_clocks.h"

#include <algorithm>

#include "dataflow/values/check.h"

namespace actorflow {

std::int64_t ReplicaClocks::join(std::int64_t replica) {
  leave(replica);
  clocks_[replica] = minimum_;
  ++at_minimum_;
  return minimum_;
}

void ReplicaClocks::leave(std::int64_t replica) {
  clocks_.erase(replica);
  find_minimum();
}

void ReplicaClocks::advance(std::int64_t replica, std::int64_t clock) {
  const auto [own, is_new] = clocks_.try_emplace(replica, clock);
  if (is_new) return find_minimum();
  if (own->second >= clock) return;
  const bool was_slowest = own->second == minimum_;
  own->second = clock;
  if (was_slowest && --at_minimum_ == 0) find_minimum();
}

void ReplicaClocks::find_minimum() {
  minimum_ = 0;
  at_minimum_ = 0;
  for (const auto& [replica, clock] : clocks_) {
    if (at_minimum_ == 0 || clock < minimum_) {
      minimum_ = clock;
      at_minimum_ = 0;
    }
    if (clock == minimum_) ++at_minimum_;
  }
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

}  // namespace actorflow

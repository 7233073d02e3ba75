// The clocks of replicas that may run ahead of each other up to a bound.
//
// Stale Synchronous Parallel (Ho et al. 2013, "More Effective Distributed ML via a Stale Synchronous
// Parallel Parameter Server", section 2): a replica's clock is the number of steps that it has finished,
// and none may begin a step while it is more than `bound` clocks ahead of the slowest.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace actorflow {

// The clocks of the members: replicas that have joined and have not left. A value; not thread-safe.
class ReplicaClocks {
 public:
  explicit ReplicaClocks(std::int64_t bound) : bound_(bound) {}

  // Adds a replica at the clock of the slowest member, at 0 if it is the first. Returns its clock.
  std::int64_t join(std::int64_t replica);
  // Removes a replica: nobody waits for it any longer.
  void leave(std::int64_t replica);
  // Notes that a replica has finished `clock` steps. One that had left becomes a member again.
  void advance(std::int64_t replica, std::int64_t clock);
  // Whether a replica may begin its next step. REQUIRES: it is a member.
  bool may_go_on(std::int64_t replica);

  std::int64_t bound() const { return bound_; }
  const std::map<std::int64_t, std::int64_t>& clocks() const { return clocks_; }  // by replica
  // The slowest members.
  std::vector<std::int64_t> slowest() const;
  // The clock of the slowest member, 0 if there is none.
  std::int64_t minimum() const { return minimum_; }
  // The largest lead over the slowest member with which a replica began a step.
  std::int64_t max_lead() const { return max_lead_; }

 private:
  void find_minimum();

  std::int64_t bound_;
  std::int64_t max_lead_ = 0;
  std::map<std::int64_t, std::int64_t> clocks_;
  std::int64_t minimum_ = 0;
  std::size_t at_minimum_ = 0;  // members: when the last one has advanced, the next minimum is searched
};

}  // namespace actorflow

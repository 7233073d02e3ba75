// How much data each replica has, where each is given its own (AutoShardPolicy::off).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "actors/strategies/replica_run.h"

namespace actorflow {

// Of one epoch.
struct DataSize {
  std::int64_t steps = 0, examples = 0;
};

// In the order of the replicas, of which there is at least one.
class SizesOfReplicas {
 public:
  explicit SizesOfReplicas(std::vector<DataSize> sizes) : sizes_(std::move(sizes)) {}

  // Those of the replica that has the most: the others join earlier.
  std::int64_t steps_of_epoch() const { return sizes_[last_to_join()].steps; }
  std::int64_t examples() const;
  // The number of the replica that joins last; of several the first.
  std::size_t last_to_join() const;
  // "48 in 12 steps, 20 in 5 steps".
  std::string describe() const;

 private:
  std::vector<DataSize> sizes_;
};

// Where all replicas have the same data: answers those that were started with AutoShardPolicy::off,
// which are refused then. Once per server.
void announce_shared_data(Server& server);

// Tells the others what this replica has, and asks each for its own, so that one that is restarted
// learns it from those that go on. Once per server. Where training of so many epochs is marked as
// complete (ReplicaOptions::mark_end) the others may have left: the steps of an epoch are then what the
// chief has written beside the mark. If the job ends well meanwhile, the result is this replica's own
// size. Throws deadline_exceeded, naming it, if one does not answer within connect_timeout_ms;
// failed_precondition if one has no data of its own; and the reason if the job fails meanwhile.
SizesOfReplicas exchange_sizes(Server& server, const std::vector<TaskName>& replicas, DataSize own,
                               const ReplicaOptions& options, int epochs);

}  // namespace actorflow

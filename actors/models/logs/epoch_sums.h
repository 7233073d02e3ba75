// The sums of what replicas measure in an epoch, which the chief takes at its end. For this folder only.
#pragma once

#include <span>
#include <vector>

#include "actors/client/session.h"
#include "actors/models/logs/totals.h"
#include "actors/runtime/runtime.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// What a replica feeds as ReplicaFeeds::row.
Tensor row_of_epoch(int epoch);
// The sum of the losses in the values of ModelGraph::epoch_sums.
double loss_sum(const Tensor& sums, int epoch);

// What an epoch has measured. `row` is what EpochSums has taken; `last` are the loss and metrics that
// the chief has measured last, or empty; `like` has the metrics' sizes, behind the loss.
Totals totals_of(const std::vector<Metric>& metrics, const Tensor& row, std::span<const Tensor> last,
                 std::span<const Tensor> like);

// The chief's nodes on ModelGraph::epoch_sums. Not thread-safe.
class EpochSums {
 public:
  EpochSums(Graph& graph, const Variable& sums);

  // The sums of an epoch, float64 [k], which then begin anew; the first one is the number of examples.
  // Those of a step may come a little after it: waits until there are `expected` examples, for 1 s.
  Tensor take(Session& session, Runtime& runtime, int epoch, double expected) const;
  // The same as far as they have come; they go on.
  Tensor so_far(Session& session, int epoch) const;
  // What came too late for the epoch before must not count in the next one, whose row is the same.
  // Called before the last step of this epoch, without which nobody begins the next.
  void forget_late(Session& session, int epoch) const;

 private:
  Tensor read(Session& session) const { return session.run(sums_); }
  Tensor take_row(Session& session, const Tensor& sums, int epoch) const;

  Output sums_;
  Output change_;  // fed: what `take_` adds to the sums, or `set_` puts in their place
  Output take_, set_;
};

}  // namespace actorflow

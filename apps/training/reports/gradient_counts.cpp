#include "apps/training/reports/gradient_counts.h"

#include "dataflow/ops/training_ops.h"

namespace actorflow {
namespace {

// Positions in what GradientCounts says of a replica.
constexpr std::size_t counted = 0, stale = 1;

std::size_t place(std::size_t replica, std::size_t field) {
  return gradient_count_fields * replica + field;
}

}  // namespace

std::vector<std::int64_t> dropped_gradients(Session& session, const TrainOp& train, int replicas) {
  std::vector<std::int64_t> dropped(static_cast<std::size_t>(replicas), 0);
  for (const auto& counts : session.run(train.gradient_counts))
    for (std::size_t replica = 0; replica < dropped.size(); ++replica)
      dropped[replica] += counts.values<std::int64_t>()[place(replica, stale)];
  return dropped;
}

std::int64_t uneven_updates(Session& session, const TrainOp& train) {
  if (!train.step_counts) return 0;
  const Tensor steps = session.run(train.step_counts);
  std::int64_t uneven = 0;
  for (const auto& updates : session.run(train.gradient_counts))
    for (std::size_t replica = 0; replica < static_cast<std::size_t>(steps.shape()[0]); ++replica) {
      const auto ahead = updates.values<std::int64_t>()[place(replica, counted)] -
                         steps.values<std::int64_t>()[place(replica, counted)];
      uneven += ahead < 0 || ahead > 1;
    }
  return uneven;
}

}  // namespace actorflow

#include "actors/shard/applied_updates.h"

#include "actors/planted_bug.h"
#include "actors/point.h"

namespace actorflow {
namespace {

Point repeated_update("an asynchronous update that came again");

}  // namespace

bool AppliedUpdates::admit(const Key& key, std::int64_t serial) {
  Replica& replica = replicas_[key];
  if (serial >= 0 && serial <= replica.last && !planted(PlantedBug::applied_again)) {
    ++replica.counts.repeated;
    repeated_update.hit();
    return false;
  }
  if (serial >= 0) replica.last = serial;
  ++replica.counts.counted;
  return true;
}

std::int64_t AppliedUpdates::next(const Key& key, std::int64_t first) {
  Replica& replica = replicas_[key];
  if (replica.last < 0) replica.last = first - 1;
  return replica.last + 1;
}

GradientCounts AppliedUpdates::counts(std::int64_t replica) const {
  GradientCounts sum;
  for (const auto& [key, entry] : replicas_) {
    if (key.replica != replica) continue;
    sum.counted += entry.counts.counted;
    sum.repeated += entry.counts.repeated;
    sum.not_finite += entry.counts.not_finite;
  }
  return sum;
}

}  // namespace actorflow

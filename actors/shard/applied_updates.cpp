#include "actors/shard/applied_updates.h"

#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point repeated_update("an asynchronous update that came again");

}  // namespace

bool AppliedUpdates::Replica::admit(std::int64_t serial) noexcept {
  if (serial < 0 || serial > last_) return true;
  ++counts_.repeated;
  repeated_update.hit();
  return false;
}

void AppliedUpdates::Replica::made(std::int64_t serial, bool finite) noexcept {
  if (serial >= 0) last_ = serial;
  ++counts_.counted;
  counts_.not_finite += finite ? 0 : 1;
}

std::int64_t AppliedUpdates::next(const Key& key, std::int64_t first) {
  Replica& replica = of(key);
  if (replica.last_ < 0) replica.last_ = first - 1;
  return replica.last_ + 1;
}

std::map<AppliedUpdates::Key, std::int64_t> AppliedUpdates::last() const {
  std::map<Key, std::int64_t> all;
  for (const auto& [key, entry] : replicas_)
    all[key] = entry.last_ >= 0 ? entry.last_ : entry.counts_.counted;
  return all;
}

GradientCounts AppliedUpdates::counts(std::int64_t replica) const {
  GradientCounts sum;
  for (const auto& [key, entry] : replicas_) {
    if (key.replica != replica) continue;
    sum.counted += entry.counts_.counted;
    sum.repeated += entry.counts_.repeated;
    sum.not_finite += entry.counts_.not_finite;
  }
  return sum;
}

}  // namespace actorflow

#include "actors/jobs/engine/coordinator/stage_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace actorflow {
namespace {

// What each part reads from files, if that is known.
std::vector<std::uint64_t> bytes_of_parts(const StageSpec& spec) {
  std::vector<std::uint64_t> bytes;
  for (std::size_t part = 0; spec.part_bytes && part < spec.parts; ++part)
    bytes.push_back(spec.part_bytes(part));
  return bytes;
}

}  // namespace

StageState::StageState(const CoordinateStage& order, std::span<const int> homes, double now)
    : number(order.number),
      spec(order.spec),
      in_plan(order.in_plan),
      tracker(homes, order.spec->keeps, is_owned(), bytes_of_parts(*order.spec)),
      began(now),
      parts(order.spec->parts) {
  for (std::size_t part = 0; spec->inputs && part < spec->parts; ++part)
    for (const auto& set : spec->inputs(part)) reads.insert(set.stage);
}

std::string StageState::name_of(std::uint64_t part) const {
  return fmt::format("{}: part {} of {}", spec->name, part, spec->parts);
}

bool StageState::lacks_own(int task) const {
  if (!spec) return false;  // nobody can make it any more
  for (std::size_t part = 0; part < spec->owners.size(); ++part)
    if (spec->owners[part] == task && !tracker.is_made(part)) return true;
  return false;
}

bool StageState::is_complete() const { return !tracker.has_pending() && tracker.runs().empty(); }

bool StageState::makes_parts() const {
  for (std::size_t part = 0; part < parts.size(); ++part)
    if (!tracker.is_made(part) && !parts[part].on_disk) return true;
  return false;
}

bool StageState::runs(const AttemptId& id, int task) const {
  return spec && std::ranges::any_of(tracker.runs(), [&](const StageTracker::Run& run) {
           return run.attempt == id.in_stage() && run.task == task;
         });
}

void StageState::forget_failures_of(int task) {
  told_pauses.erase(task);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    parts[part].failed_on.erase(task);
    if (!is_owned() || spec->owners[part] != task) continue;
    parts[part].refusals = 0;
    tracker.forget_failures(part);
  }
}

void StageState::note_weight(const PartMade& made) {
  for (const auto& [partition, bytes] : made.heaviest) heavy_partitions[partition] += bytes;
  if (const HeavyKey& heavy = made.heavy_key; !heavy.key.empty())
    heavy_keys[heavy.partition][heavy.key] += heavy.bytes;
}

std::vector<PartOutcome> StageState::take_outcomes() {
  std::vector<PartOutcome> outcomes;
  outcomes.reserve(parts.size());
  for (PartState& part : parts) outcomes.push_back(std::exchange(part.outcome, {}));
  return outcomes;
}

std::shared_ptr<const StageSpec> StageState::close() {
  parts = {};
  return std::exchange(spec, nullptr);
}

}  // namespace actorflow

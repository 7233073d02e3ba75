// What a coordinator knows of a stage, from its beginning to the end of the job.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "actors/jobs/engine/coordinator/coordinator_orders.h"
#include "actors/jobs/engine/coordinator/part_state.h"
#include "actors/jobs/messages/job_messages.h"
#include "dataflow/jobs/stage_tracker.h"

namespace actorflow {

struct StageState {
  // `homes`: as of StageTracker.
  StageState(const CoordinateStage& order, std::span<const int> homes, double now);

  PartState& part(std::uint64_t index) { return parts[static_cast<std::size_t>(index)]; }
  const PartState& part(std::uint64_t index) const { return parts[static_cast<std::size_t>(index)]; }
  // For people: "read_text, map: part 3 of 20". REQUIRES: spec.
  std::string name_of(std::uint64_t part) const;

  // Whether each part is for one task alone. REQUIRES: spec.
  bool is_owned() const { return !spec->owners.empty(); }
  // Whether the task lacks a part that it alone keeps, and that can still be made.
  bool lacks_own(int task) const;
  // Whether nothing runs or is to run: what is lost is on disk, for those that want it.
  bool is_complete() const;
  // Whether parts have to be computed, for which what they read must be there.
  bool makes_parts() const;
  // Whether the attempt runs at the task, and anybody wants what it makes.
  bool runs(const AttemptId& id, int task) const;

  // Another process has come in the place of the task: what that could not do counts no longer, neither
  // against the task nor against the parts that it alone runs.
  void forget_failures_of(int task);
  // Notes how much the part has handed over for which partitions and keys.
  void note_weight(const PartMade& made);
  // The outcomes by part, which are gone here. For the end of the stage.
  std::vector<PartOutcome> take_outcomes();
  // Nothing of it runs any more, and nothing is known of its parts. Returns its spec, which may forget
  // other stages when it is destroyed.
  std::shared_ptr<const StageSpec> close();

  const StageNumber number;
  std::shared_ptr<const StageSpec> spec;  // null: it is closed
  const std::uint32_t in_plan;
  StageTracker tracker;
  std::set<StageNumber> reads;
  const double began;
  std::vector<PartState> parts;  // none: it is closed
  // The longest pause of a part that was logged since the task last made one, by the task whose disk
  // has refused.
  std::map<int, std::chrono::seconds> told_pauses;
  std::size_t failed = 0, backups = 0, resumed = 0;
  std::uint64_t result_bytes = 0;  // of parts that are made
  // By partition the bytes that its parts have handed over, where they have said so; and those of keys.
  std::map<std::uint64_t, std::uint64_t> heavy_partitions;
  std::map<std::uint64_t, std::map<std::string, std::uint64_t>> heavy_keys;
  std::optional<StageDone> done;  // kept for tasks that come later
};

}  // namespace actorflow

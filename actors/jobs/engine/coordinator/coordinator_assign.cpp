// Which task runs which part, and when.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

constexpr double late_seconds = 1.5;
constexpr std::size_t slots_per_backup = 10;

Point backed_up("a slow part of a job runs twice");

}  // namespace

// A task of several has some parts more than it runs, so that their input is on its way meanwhile.
bool JobCoordinator::has_room(const Task& task, const StageState& stage) const {
  const std::size_t ahead = tasks_.size() == 1 ? 0 : stage.reads.empty() ? 1 : task.slots;
  return task.running < task.slots + ahead;
}

// Whether there is such a task on which the part has not failed.
bool JobCoordinator::has_untried(const PartState& part,
                                 const std::function<bool(const Task&)>& is_one) const {
  for (std::size_t task = 0; task < tasks_.size(); ++task)
    if (is_one(tasks_[task]) && !part.failed_on.contains(static_cast<int>(task))) return true;
  return false;
}

bool JobCoordinator::can_run(const StageState& stage, std::size_t index, int task) const {
  const PartState& part = stage.parts[index];
  if (stage.is_owned()) {
    if (stage.spec->owners[index] != task) return false;
  } else if (part.failed_on.contains(task)) {
    if (has_untried(part, [&](const Task& other) { return other.ready >= stage.number; })) return false;
  }
  if (stage.reads.empty() || part.on_disk) return true;
  return std::ranges::all_of(stage.spec->inputs(index), [&](const SliceSet& set) {
    const auto& tracker = stages_.at(set.stage).tracker;
    return set.of_one_part ? tracker.is_made(set.index) : tracker.finished();
  });
}

// One part for each task in turn, as long as there are any. What was lost comes first.
void JobCoordinator::assign() {
  for (bool given = current_ != 0 || !catching_up_.empty(); given;) {
    given = false;
    for (std::size_t task = 0; task < tasks_.size(); ++task) given |= assign_one(static_cast<int>(task));
  }
}

bool JobCoordinator::assign_one(int position) {
  const Task& task = task_at(position);
  for (auto& [number, stage] : stages_) {
    if (!stage.spec || !stage.tracker.has_pending() || number > task.ready || !has_room(task, stage))
      continue;
    const auto may_run = [&](std::size_t part) { return can_run(stage, part, position); };
    const auto attempt = stage.tracker.next(position, now(), may_run, task.slots);
    if (!attempt) continue;
    run(stage, *attempt, position);
    return true;
  }
  return false;
}

bool JobCoordinator::assign_backup(int position) {
  const Task& task = task_at(position);
  StageState& stage = stages_.at(current_);
  if (task.ready < current_ || task.running >= task.slots || stage.is_owned()) return false;
  std::size_t slots = 0;
  for (const auto& other : tasks_) slots += other.slots;
  const auto attempt =
      stage.tracker.backup(position, now(), std::max<std::size_t>(1, slots / slots_per_backup));
  if (!attempt) return false;
  ++stage.backups;
  backed_up.hit();
  spdlog::info("{} takes long; {} runs it, too", stage.name_of(attempt->part),
               order_.mail->name_of(position));
  run(stage, *attempt, position);
  return true;
}

void JobCoordinator::run(StageState& stage, const PartAttempt& attempt, int task) {
  ++task_at(task).running;
  PartState& part = stage.parts[attempt.part];
  RunPart order{{stage.number, attempt.part, attempt.attempt},
                {part.skips.begin(), part.skips.end()},
                {},
                part.on_disk};
  if (part.on_disk) {
    part.takeovers.insert(attempt.attempt);
  } else if (stage.spec->inputs) {
    for (const auto& set : stage.spec->inputs(attempt.part))
      order.inputs.emplace_back(set, holders_of(set));
  }
  order_.mail->to_agent(task, std::move(order));
}

// The tasks that have what the set is made of: of one part, or of all in their order.
std::vector<std::int32_t> JobCoordinator::holders_of(const SliceSet& set) const {
  const auto& tracker = stages_.at(set.stage).tracker;
  if (set.of_one_part) return {tracker.holder(set.index)};
  std::vector<std::int32_t> holders;
  for (std::size_t part = 0; part < tracker.parts(); ++part) holders.push_back(tracker.holder(part));
  return holders;
}

// Where the program of a task does not come to the stage, what it has to read is read elsewhere.
void JobCoordinator::free_parts_of_late_tasks(StageState& stage) {
  if (now() - stage.began < late_seconds) return;
  std::size_t freed = 0;
  for (std::size_t task = 0; task < tasks_.size(); ++task)
    if (tasks_[task].ready < current_) freed += stage.tracker.leave_home(static_cast<int>(task));
  if (freed > 0) assign();
}

// Parts that were left alone for a while after a disk has refused them.
void JobCoordinator::end_pauses() {
  bool any = false;
  for (auto& [number, stage] : stages_) any |= stage.tracker.resume(now());
  if (any) assign();
}

}  // namespace actorflow

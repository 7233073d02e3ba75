#include "actors/jobs/engine/coordinator/job_coordinator.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace actorflow {
namespace {

// The task that has the input of each part, if it is one task.
std::vector<int> homes_of(const StageSpec& spec, const auto& stages) {
  if (!spec.owners.empty()) return spec.owners;
  std::vector<int> homes(spec.parts, StageTracker::nowhere);
  for (std::size_t part = 0; spec.inputs && part < spec.parts; ++part)
    for (const auto& set : spec.inputs(part))
      if (set.of_one_part) homes[part] = stages.at(set.stage).tracker.holder(set.index);
  return homes;
}

}  // namespace

JobCoordinator::JobCoordinator(GuardedActor* self, CoordinatorOrder order)
    : self_(self),
      history_(std::move(order.history)),
      order_(std::move(order)),
      tasks_(static_cast<std::size_t>(order_.mail->tasks())) {
  tasks_[JobMail::coordinator_task].has_left = true;
}

caf::behavior JobCoordinator::behavior() {
  self_->introduce("job-coordinator", order_.mail->task() ? &order_.mail->task()->self.name : nullptr);
  self_->delayed_send(self_, job_tick_interval, Tick{});
  return guarded(
      self_, this,  //
      [this](const CoordinateStage& order) { begin(order); },
      [this](const ForgetStage& stage) { forget(stage.number); },
      [this](const EndJob& how) { end(how); },
      [this](const Sender& from, StageReady& ready) {
        meet(from);
        on(static_cast<int>(from.task), ready);
      },
      [this](const Sender& from, const PartRan& ran) { on(static_cast<int>(from.task), ran); },
      [this](const Sender& from, const PartNotRun& part) { on(static_cast<int>(from.task), part); },
      [this](const Sender& from, PartMade& made) { on(static_cast<int>(from.task), made); },
      [this](const Sender& from, const AgentProgress& progress) {
        on(static_cast<int>(from.task), progress);
      },
      [this](const Sender& from, ActorMessage& letter) { on_letter(from, letter); },
      [this](const PeerLost& lost) { on_lost(lost); }, [this](Tick) { on_tick(); });
}

double JobCoordinator::now() const { return seconds_of(order_.clock); }

StageState* JobCoordinator::running_stage() { return current_ == 0 ? nullptr : &stages_.at(current_); }

// The job's thread.

void JobCoordinator::begin(const CoordinateStage& order) {
  current_ = order.number;
  undelivered_.clear();
  const auto homes = homes_of(*order.spec, stages_);
  StageState& stage = stages_.try_emplace(order.number, order, homes, now()).first->second;
  for (const int owner : order.spec->owners) last_own_[owner] = order.number;
  if (!recall(stage)) return;
  mend(stage);
  for (std::size_t task = 0; task < tasks_.size(); ++task) check_fingerprint(static_cast<int>(task));
  if (*order_.stopped) return fail({Code::cancelled, "the job was stopped"});
  assign();
  if (current_ != 0 && stage.is_complete()) end_stage({});
}

void JobCoordinator::forget(StageNumber number) {
  const auto found = stages_.find(number);
  if (found == stages_.end()) return;
  StageState& stage = found->second;
  const std::vector runs(stage.tracker.runs().begin(), stage.tracker.runs().end());
  for (const auto& run : runs) drop(stage, run);
  const auto spec = stage.close();
}

// Agents.

void JobCoordinator::on_letter(const Sender& from, const ActorMessage& letter) {
  const auto task = static_cast<int>(from.task);
  if (!letter.status.ok()) return on_undelivered(task, letter.status);
  if (says<JoinJob>(letter) || letter.request != order_.mail->run()) {
    take_letter<JoinJob>(letter, [&](const JoinJob& join) { on(from, join); });
    // It takes part in an earlier run: so it learns that there is another.
    if (says<StageReady>(letter)) order_.mail->to_agent(task, job_is());
    return;
  }
  Task& known = meet(from);
  if (known.incarnation != from.incarnation) return;  // its task has been replaced since
  take_letter<StageReady, PartRan, PartNotRun, PartMade, AgentProgress, JobLeft>(
      letter, [&](auto message) { on(task, message); });
}

// A task that comes in another life has nothing of what it had.
JobCoordinator::Task& JobCoordinator::meet(const Sender& from) {
  const auto position = static_cast<int>(from.task);
  Task& task = task_at(position);
  if (task.incarnation == from.incarnation) return task;
  if (task.incarnation != 0) lose(position);
  if (task.before != 0 && task.before != from.incarnation) forget_failures_of(position);
  task.incarnation = from.incarnation;
  renew_waits_of(position);
  if (!end_) task.has_left = position == order_.mail->own();
  return task;
}

JobIs JobCoordinator::job_is(std::uint64_t to) const {
  return {order_.terms, to, stages_.empty() ? StageNumber{0} : stages_.rbegin()->first};
}

void JobCoordinator::on(const Sender& from, const JoinJob& join) {
  const auto task = static_cast<int>(from.task);
  const JobMail& mail = *order_.mail;
  if (!join.build.empty() && join.build != order_.build)
    return mail.to_agent(
        task, JobEnded{{Code::failed_precondition,
                        fmt::format("{} runs another build of the program than {}: "
                                    "start the same one on all tasks",
                                    mail.name_of(task), mail.name_of(JobMail::coordinator_task))},
                       join.by});
  if (!end_) {
    if (!join.build.empty()) meet(from);  // its program will come to the stages
    return mail.to_agent(task, job_is(join.by));
  }
  // Who has left this job wants to join the next one, of which another coordinator will say what it is.
  const Task& known = task_at(task);
  const bool joins_next = !join.build.empty() && known.left_as == from.incarnation;
  if (!joins_next) mail.to_agent(task, end_of(task, join.by));
}

void JobCoordinator::on(int from, StageReady& ready) {
  Task& task = task_at(from);
  if (ready.stage > task.ready) come_nearer(from);
  task.ready = ready.stage;
  task.slots = ready.slots;
  task.fingerprint = std::move(ready.fingerprint);
  if (end_) return order_.mail->to_agent(from, end_of(from));
  const auto stage = stages_.find(ready.stage);
  if (stage != stages_.end() && stage->second.done) return say_done(from, stage->second);
  if (from != order_.mail->own()) order_.mail->to_agent(from, job_is());  // a sign of life
  check_fingerprint(from);
  assign();
}

// What it has spent is spent, whatever becomes of the task; a message that was not delivered is followed
// by one with the same numbers.
void JobCoordinator::on(int from, const AgentProgress& progress) {
  task_at(from).progress = progress;
  Spent& spent = spent_[{from, progress.by}];
  if (spent.stage != progress.stage) spent.busy_seconds = 0;
  spent.stage = progress.stage;
  spent.busy_seconds = std::max(spent.busy_seconds, progress.busy_seconds);
  spent.bytes_spilled = std::max(spent.bytes_spilled, progress.bytes_spilled);
}

void JobCoordinator::on(int from, const JobLeft&) {
  const auto incarnation = task_at(from).incarnation;
  lose(from);
  task_at(from).left_as = incarnation;
  assign();
  reply_if_all_have_left();
}

// Tasks that run other functions, or read other files, must not work on one result.
void JobCoordinator::check_fingerprint(int from) {
  const Task& task = task_at(from);
  const StageState* stage = running_stage();
  if (!stage || task.ready != current_ || task.fingerprint == stage->spec->fingerprint) return;
  const auto [ours, theirs] = first_difference(stage->spec->fingerprint, task.fingerprint);
  fail(
      {Code::failed_precondition,
       fmt::format("{} does not run the same job: where {} has '{}', it has '{}'",
                   order_.mail->name_of(from), order_.mail->name_of(order_.mail->own()), ours, theirs)});
}

void JobCoordinator::on_tick() {
  if (*order_.stopped && current_ != 0) fail({Code::cancelled, "the job was stopped"});
  if (current_ != 0) {
    for (std::size_t task = 0; task < tasks_.size(); ++task) assign_backup(static_cast<int>(task));
    report(false);
    free_parts_of_late_tasks(stages_.at(current_));
    look_after_owners(stages_.at(current_));
  }
  end_pauses();
  end_when_all_have_their_own();
  reply_if_all_have_left();
  self_->delayed_send(self_, job_tick_interval, Tick{});
}

// The end of a stage.

// Where no stage runs, the job itself has not failed, only the tasks that catch up.
void JobCoordinator::fail(Status why) {
  if (current_ == 0 && !catching_up_.empty())
    spdlog::warn("{}; it ends the tasks that catch up", why.message);
  for (const auto& [task, number] : std::exchange(catching_up_, {}))
    order_.mail->to_agent(task, StageDone{number, why, {}, skipped_});
  if (current_ != 0) end_stage(std::move(why));
}

void JobCoordinator::end_stage(Status status) {
  StageState& stage = stages_.at(current_);
  report(true);
  StageDone done{current_, std::move(status), stage.take_outcomes(), skipped_};
  if (!done.status.ok()) done.outcomes.clear();
  const StageNumber number = std::exchange(current_, 0);
  const std::vector runs(stage.tracker.runs().begin(), stage.tracker.runs().end());
  for (const auto& run : runs) give_back(stage, run.attempt, run.task);
  const auto spec = stage.spec->keeps ? nullptr : stage.close();
  for (std::size_t task = 0; task < tasks_.size(); ++task)
    if (tasks_[task].ready == number && (!done.status.ok() || !stage.lacks_own(static_cast<int>(task))))
      order_.mail->to_agent(static_cast<int>(task), done);
  if (tasks_.size() > 1 || tasks_[0].ready != number) stage.done = std::move(done);
}

caf::behavior job_coordinator_actor(JobCoordinatorActor* self, CoordinatorOrder order) {
  self->state = std::make_unique<JobCoordinator>(self, std::move(order));
  return self->state->behavior();
}

}  // namespace actorflow

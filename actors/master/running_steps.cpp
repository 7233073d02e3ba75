#include "actors/master/running_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "dataflow/values/bounded_wait.h"
#include "dataflow/values/check.h"

namespace actorflow {

void RunningSteps::start(std::shared_ptr<const Parts> parts, StepRequest request, MasterReplyFn& reply) {
  if (parts->empty()) return reply({});  // nothing to fetch, nothing to do
  const bool repeated = repeats({parts, request.epoch}, request);
  const bool begun = repeated && ahead_ != 0;
  const StepId id = begun ? take_ahead() : enter(parts, request);
  Step& step = steps_.at(id);
  step.reply = std::move(reply);
  const auto knows_of_it = [&](std::size_t part) { return begun && (*parts)[part].begins_ahead; };
  const std::size_t count = parts->size();
  std::size_t asked = 0;
  try {
    if (repeated) expect_next(id, parts, request);
    for (; asked < count; ++asked)
      if (!knows_of_it(asked)) run_part(id, (*parts)[asked], request);
    if (request.timeout_ms > 0) set_deadline(id, step, request.timeout_ms);
  } catch (...) {
    const Status why = self_->failure_of("RunStep");
    if (asked == count) return abort(id, step, why);
    for (; asked < count; ++asked)
      if (!knows_of_it(asked)) part_done(id, step, asked, why);
  }
}

bool RunningSteps::repeats(const Kind& kind, const StepRequest& request) {
  if (!request.changes_variables) return false;
  const bool alone = std::ranges::none_of(
      steps_, [](const auto& entry) { return entry.second.reply && entry.second.changes_variables; });
  const bool repeated = alone && !request.trace && kind == std::exchange(last_, kind);
  if (!repeated && ahead_ != 0)
    abort(ahead_, steps_.at(ahead_), {Code::aborted, "the client has asked for another step"});
  return repeated;
}

StepId RunningSteps::enter(const std::shared_ptr<const Parts>& parts, const StepRequest& request) {
  // The top bits stay clear for clients that have signed numbers only.
  const StepId id = task_->random->next() >> 2;
  steps_.insert_or_assign(id, make(parts, request));
  return id;
}

StepId RunningSteps::take_ahead() {
  Step& step = steps_.at(ahead_);
  for (std::size_t i = 0; i < step.parts->size(); ++i) {
    if ((*step.parts)[i].begins_ahead) continue;
    step.done[i] = false;
    ++step.running;
  }
  return std::exchange(ahead_, 0);
}

void RunningSteps::expect_next(StepId id, const std::shared_ptr<const Parts>& parts,
                               const StepRequest& request) {
  Step next = make(parts, request);
  for (std::size_t i = 0; i < parts->size(); ++i) {
    if ((*parts)[i].begins_ahead) continue;
    next.done[i] = true;  // that task knows nothing of the step yet
    --next.running;
  }
  if (next.running == 0) return;
  steps_.insert_or_assign(id + 1, std::move(next));
  ahead_ = id + 1;
}

RunningSteps::Step RunningSteps::make(std::shared_ptr<const Parts> parts,
                                      const StepRequest& request) const {
  Step step;
  step.session = request.session;
  step.changes_variables = request.changes_variables;
  step.parts = std::move(parts);
  step.done.resize(step.parts->size());
  step.running = step.parts->size();
  step.fetches.resize(request.fetches);
  if (request.trace) step.tracer = std::make_unique<StepTracer>(task_->clock->now());
  return step;
}

void RunningSteps::run_part(StepId id, const RegisteredPart& part, const StepRequest& request) const {
  ACTORFLOW_CHECK(part.handle != 0, "a part is not registered with",
                  task_->name_of(part.task).to_string());
  RunGraph run{part.handle, id, request.epoch, {}, request.trace};
  if (ahead_ == id + 1) run.next = part.begins_ahead ? NextStep::begun : NextStep::announced;
  for (auto index : part.args)
    run.args.emplace_back(index, request.feeds[static_cast<std::size_t>(index)]);
  tell(*task_, part.task, std::move(run));
}

void RunningSteps::on_done(const Sender& from, StepDone& message) {
  const auto found = steps_.find(message.step);
  if (found == steps_.end()) return;
  Step& step = found->second;
  for (auto& [index, tensor] : message.retvals)
    if (index >= 0 && index < static_cast<std::int32_t>(step.fetches.size()))
      step.fetches[static_cast<std::size_t>(index)] = std::move(tensor);
  if (step.tracer) step.tracer->add(std::move(message.trace), task_->clock->now());
  const Parts& parts = *step.parts;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].task == from.task) return part_done(message.step, step, i, message.status);
}

void RunningSteps::on_lost(const Sender& from, StepId id, const Status& why) {
  StepDone lost{id, why, {}};
  on_done(from, lost);
}

void RunningSteps::part_done(StepId id, Step& step, std::size_t part, const Status& status) {
  // A part may report twice: after its end it may learn that a tensor it sent was lost.
  if (!step.done[part]) --step.running;
  step.done[part] = true;
  if (!status.ok()) {
    abort(id, step, located(step, part, status));
    will_not_begin(id + 1, part);
  }
  if (step.running > 0) return;
  MasterReply answer;
  answer.status = std::move(step.status);
  if (answer.status.ok()) answer.fetches = std::move(step.fetches);
  if (step.tracer) answer.trace = step.tracer->take();
  const MasterReplyFn reply = std::move(step.reply);
  erase(id);
  if (reply) reply(std::move(answer));
}

void RunningSteps::will_not_begin(StepId next, std::size_t part) {
  const auto found = steps_.find(next);
  if (found == steps_.end()) return;
  Step& step = found->second;
  if (!step.done[part]) --step.running;
  step.done[part] = true;
  if (step.running == 0) erase(next);
}

Status RunningSteps::located(const Step& step, std::size_t part, const Status& status) const {
  const TaskId task = (*step.parts)[part].task;
  const std::string name = task_->name_of(task).to_string();
  const bool only_here = step.parts->size() == 1 && task == task_->own;
  if (only_here || status.message.find(name) != std::string::npos) return status;
  return {status.code, fmt::format("{}: {}", name, status.message)};
}

// Keeps the root error and stops the parts that still run. Parts that could not be told now, for want of
// memory, are told with the next error. If no client has asked for the step yet, all parts are told,
// also those that only keep tensors for it.
void RunningSteps::abort(StepId id, Step& step, const Status& reason) {
  if (ahead_ == id) ahead_ = 0;
  if (ahead_ == id + 1) abort(ahead_, steps_.at(ahead_), reason);
  if (step.status.ok() || (is_derived(step.status.code) && !is_derived(reason.code)))
    step.status = reason;
  for (; step.told < step.parts->size(); ++step.told)
    if (!step.done[step.told] || !step.reply)
      tell(*task_, (*step.parts)[step.told].task,
           AbortStep{id, {Code::aborted, "the step failed elsewhere: " + reason.message}});
}

void RunningSteps::set_deadline(StepId id, Step& step, std::int64_t timeout_ms) {
  const auto deadline = self_->clock().now() + bounded_wait(std::chrono::milliseconds(timeout_ms));
  deadlines_.emplace(deadline, id);
  step.deadline = deadline;
  step.timeout_ms = timeout_ms;
  set_timer();
}

void RunningSteps::forget_deadline(StepId id, Step& step) {
  deadlines_.erase({std::exchange(step.deadline, Clock::never), id});
}

void RunningSteps::erase(StepId id) {
  forget_deadline(id, steps_.at(id));
  steps_.erase(id);
}

void RunningSteps::set_timer() {
  if (deadlines_.empty()) return;
  const auto due = deadlines_.begin()->first;
  if (!timers_.empty() && *timers_.begin() <= due) return;
  self_->delayed_send(self_, due - self_->clock().now(), LookForLateSteps{due});
  timers_.insert(due);
}

void RunningSteps::on_timer(const LookForLateSteps& timer) {
  timers_.erase(timer.due);
  while (!deadlines_.empty() && deadlines_.begin()->first <= timer.due) {
    const StepId id = deadlines_.begin()->second;
    Step& step = steps_.at(id);
    forget_deadline(id, step);
    give_up_late(id, step);
  }
  set_timer();
}

void RunningSteps::give_up_late(StepId id, Step& step) {
  std::string missing;
  for (std::size_t i = 0; i < step.done.size(); ++i)
    if (!step.done[i]) missing += fmt::format(" {}", task_->name_of((*step.parts)[i].task).to_string());
  abort(id, step,
        {Code::deadline_exceeded, fmt::format("the step did not end within {} ms; still running on{}",
                                              step.timeout_ms, missing)});
}

void RunningSteps::abort_session(const std::string& session, const Status& reason) {
  for (auto& [id, step] : steps_)
    if (step.session == session) abort(id, step, reason);
}

std::size_t RunningSteps::size() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(steps_, [](const auto& entry) { return bool{entry.second.reply}; }));
}

bool RunningSteps::has_session(const std::string& session) const {
  return std::ranges::any_of(steps_, [&](const auto& entry) { return entry.second.session == session; });
}

void RunningSteps::abort_all(const Status& reason) {
  for (auto& [id, step] : steps_) abort(id, step, reason);
}

void RunningSteps::on_peer_lost(const PeerLost& message) {
  std::vector<std::pair<StepId, std::size_t>> lost;
  for (const auto& [id, step] : steps_) {
    const auto part = std::ranges::find_if(*step.parts, [&message](const RegisteredPart& candidate) {
      return message.concerns({candidate.task, candidate.incarnation});
    });
    if (part != step.parts->end())
      lost.emplace_back(id, static_cast<std::size_t>(part - step.parts->begin()));
  }
  for (const auto& [id, part] : lost) {
    const auto found = steps_.find(id);
    if (found == steps_.end()) continue;  // ended with the step before it
    Step& step = found->second;
    // Other parts may wait for what a finished part has left on that task: a gradient, a token.
    if (step.done[part])
      abort(id, step, message.reason);
    else
      part_done(id, step, part, message.reason);
  }
}

}  // namespace actorflow

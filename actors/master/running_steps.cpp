#include "actors/master/running_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "dataflow/values/check.h"

namespace actorflow {

void RunningSteps::start(std::shared_ptr<const Parts> parts, StepRequest request, MasterReplyFn& reply) {
  if (parts->empty()) return reply({});  // nothing to fetch, nothing to do
  const bool repeated = is_repeated({parts, request.epoch}, request);
  const bool begun = repeated && ahead_;
  const StepId id = begun ? *std::exchange(ahead_, std::nullopt) : make(parts, request);
  RunningStep& step = steps_.at(id);
  step.ask(std::move(reply));
  const auto has_begun = [&](std::size_t part) { return begun && (*parts)[part].begins_ahead; };
  const std::size_t count = parts->size();
  std::size_t told = 0;
  try {
    if (repeated) make_ahead(id + 1, parts, request);
    for (; told < count; ++told)
      if (!has_begun(told)) run_part(id, (*parts)[told], request);
    if (request.timeout_ms > 0) deadlines_.set(id, step, request.timeout_ms);
  } catch (...) {
    const Status why = self_->failure_of("RunStep");
    if (told == count) return abort(id, step, why);
    for (; told < count; ++told)
      if (!has_begun(told)) end_part(id, step, told, why);
  }
}

bool RunningSteps::is_repeated(const Kind& kind, const StepRequest& request) {
  if (!request.changes_variables) return false;
  const bool alone = std::ranges::none_of(steps_, [](const auto& entry) {
    return entry.second.is_asked_for() && entry.second.changes_variables();
  });
  const bool repeated = alone && !request.trace && kind == std::exchange(last_change_, kind);
  if (!repeated && ahead_)
    abort(*ahead_, steps_.at(*ahead_), {Code::aborted, "the client has asked for another step"});
  return repeated;
}

StepId RunningSteps::make(const std::shared_ptr<const Parts>& parts, const StepRequest& request) {
  // The top bits stay clear for clients that have signed numbers only.
  const StepId id = task_->random->next() >> 2;
  RunningStep& step = steps_.insert_or_assign(id, RunningStep(parts, request)).first->second;
  if (request.trace) step.trace_from(task_->clock->now());
  return id;
}

void RunningSteps::make_ahead(StepId id, const std::shared_ptr<const Parts>& parts,
                              const StepRequest& request) {
  RunningStep next(parts, request);
  if (!next.begin_ahead()) return;
  steps_.insert_or_assign(id, std::move(next));
  ahead_ = id;
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
  RunningStep& step = found->second;
  step.add_fetches(message);
  if (StepTracer* tracer = step.tracer()) tracer->add(std::move(message.trace), task_->clock->now());
  if (const auto part = step.part_of(from.task)) end_part(message.step, step, *part, message.status);
}

void RunningSteps::on_lost(const Sender& from, StepId id, const Status& why) {
  StepDone lost{id, why, {}};
  on_done(from, lost);
}

void RunningSteps::end_part(StepId id, RunningStep& step, std::size_t part, const Status& status) {
  step.end(part);
  if (!status.ok()) {
    abort(id, step, located(step, part, status));
    will_not_begin(id + 1, part);
  }
  if (step.is_over()) finish(id, step);
}

void RunningSteps::will_not_begin(StepId next, std::size_t part) {
  const auto found = steps_.find(next);
  if (found == steps_.end()) return;
  found->second.end(part);
  if (found->second.is_over()) finish(next, found->second);
}

void RunningSteps::finish(StepId id, RunningStep& step) {
  MasterReply answer = step.take_answer();
  const MasterReplyFn reply = step.take_reply();
  deadlines_.forget(id, step);
  steps_.erase(id);
  if (reply) reply(std::move(answer));
}

Status RunningSteps::located(const RunningStep& step, std::size_t part, const Status& status) const {
  const TaskId task = step.parts()[part].task;
  const std::string name = task_->name_of(task).to_string();
  const bool only_here = step.parts().size() == 1 && task == task_->own;
  if (only_here || status.message.find(name) != std::string::npos) return status;
  return {status.code, fmt::format("{}: {}", name, status.message)};
}

// Parts that could not be told now, for want of memory, are told with the next error.
void RunningSteps::abort(StepId id, RunningStep& step, const Status& reason) {
  if (ahead_ == id) ahead_.reset();
  if (ahead_ == id + 1) abort(*ahead_, steps_.at(*ahead_), reason);
  step.fail(reason);
  step.stop_parts([&](const RegisteredPart& part) {
    tell(*task_, part.task,
         AbortStep{id, {Code::aborted, "the step failed elsewhere: " + reason.message}});
  });
}

void RunningSteps::on_timer(const LookForLateSteps& timer) {
  deadlines_.on_timer(timer, [this](StepId id) {
    RunningStep& step = steps_.at(id);
    deadlines_.forget(id, step);
    give_up_late(id, step);
  });
}

void RunningSteps::give_up_late(StepId id, RunningStep& step) {
  std::string missing;
  for (std::size_t part = 0; part < step.parts().size(); ++part)
    if (step.runs(part)) missing += " " + task_->name_of(step.parts()[part].task).to_string();
  abort(id, step,
        {Code::deadline_exceeded, fmt::format("the step did not end within {} ms; still running on{}",
                                              step.timeout_ms, missing)});
}

void RunningSteps::abort_session(const std::string& session, const Status& reason) {
  for (auto& [id, step] : steps_)
    if (step.session() == session) abort(id, step, reason);
}

std::size_t RunningSteps::size() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(steps_, [](const auto& entry) { return entry.second.is_asked_for(); }));
}

bool RunningSteps::has_session(const std::string& session) const {
  return std::ranges::any_of(steps_,
                             [&](const auto& entry) { return entry.second.session() == session; });
}

void RunningSteps::abort_all(const Status& reason) {
  for (auto& [id, step] : steps_) abort(id, step, reason);
}

void RunningSteps::on_peer_lost(const PeerLost& message) {
  std::vector<std::pair<StepId, std::size_t>> lost;
  for (const auto& [id, step] : steps_) {
    const auto part = step.part_of(message.task);
    if (!part) continue;
    const RegisteredPart& gone = step.parts()[*part];
    if (message.concerns({gone.task, gone.incarnation})) lost.emplace_back(id, *part);
  }
  for (const auto& [id, part] : lost) {
    const auto found = steps_.find(id);
    if (found == steps_.end()) continue;  // ended with the step before it
    RunningStep& step = found->second;
    // Other parts may wait for what a finished part has left on that task: a gradient, a token.
    if (step.runs(part))
      end_part(id, step, part, message.reason);
    else
      abort(id, step, message.reason);
  }
}

}  // namespace actorflow

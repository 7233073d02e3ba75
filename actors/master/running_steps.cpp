#include "actors/master/running_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "dataflow/values/check.h"

namespace actorflow {

void RunningSteps::start(std::shared_ptr<const Parts> parts, StepRequest request, MasterReplyFn& reply) {
  if (parts->empty()) return reply({});  // nothing to fetch, nothing to do
  // The top bits stay clear for clients that have signed numbers only.
  const StepId id = task_->random->next() >> 2;
  Step& step = steps_.insert_or_assign(id, make(std::move(parts), request)).first->second;
  step.reply = std::move(reply);
  const std::size_t count = step.parts->size();
  std::size_t asked = 0;
  try {
    for (; asked < count; ++asked) run_part(id, (*step.parts)[asked], request);
    if (request.timeout_ms > 0)
      self_->delayed_send(self_, std::chrono::milliseconds(request.timeout_ms),
                          StepTimeout{id, request.timeout_ms});
  } catch (...) {
    const Status why = self_->failure_of("RunStep");
    if (asked == count) return abort(id, step, why);
    for (; asked < count; ++asked) part_done(id, step, asked, why);  // they know nothing of it
  }
}

RunningSteps::Step RunningSteps::make(std::shared_ptr<const Parts> parts, StepRequest& request) const {
  Step step;
  step.session = std::move(request.session);
  step.parts = std::move(parts);
  step.done.resize(step.parts->size());
  step.running = step.parts->size();
  step.fetches.resize(request.fetches);
  if (request.trace) step.tracer = std::make_unique<StepTracer>(task_->clock->now());
  return step;
}

void RunningSteps::run_part(StepId id, const RegisteredPart& part, const StepRequest& request) const {
  ACTORFLOW_CHECK(part.handle != 0, "a part is not registered with", task_->name_of(part.task).to_string());
  RunGraph run{part.handle, id, request.epoch, {}, request.trace};
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
  // A part that has ended may say later that what it sent was lost.
  if (!step.done[part]) --step.running;
  step.done[part] = true;
  if (!status.ok()) abort(id, step, located(step, part, status));
  if (step.running > 0) return;
  MasterReply answer;
  answer.status = std::move(step.status);
  if (answer.status.ok()) answer.fetches = std::move(step.fetches);
  if (step.tracer) answer.trace = step.tracer->take();
  const MasterReplyFn reply = std::move(step.reply);
  steps_.erase(id);
  reply(std::move(answer));
}

Status RunningSteps::located(const Step& step, std::size_t part, const Status& status) const {
  const TaskId task = (*step.parts)[part].task;
  const std::string name = task_->name_of(task).to_string();
  const bool only_here = step.parts->size() == 1 && task == task_->own;
  if (only_here || status.message.find(name) != std::string::npos) return status;
  return {status.code, fmt::format("{}: {}", name, status.message)};
}

// Keeps the root error, and stops the parts that still run: those that could not be told, with the next error.
void RunningSteps::abort(StepId id, Step& step, const Status& reason) {
  if (step.status.ok() || (is_derived(step.status.code) && !is_derived(reason.code)))
    step.status = reason;
  for (; step.told < step.parts->size(); ++step.told)
    if (!step.done[step.told])
      tell(*task_, (*step.parts)[step.told].task,
           AbortStep{id, {Code::aborted, "the step failed elsewhere: " + reason.message}});
}

void RunningSteps::on_timeout(const StepTimeout& timeout) {
  const auto found = steps_.find(timeout.step);
  if (found == steps_.end()) return;
  Step& step = found->second;
  std::string missing;
  for (std::size_t i = 0; i < step.done.size(); ++i)
    if (!step.done[i]) missing += fmt::format(" {}", task_->name_of((*step.parts)[i].task).to_string());
  abort(timeout.step, step,
        {Code::deadline_exceeded, fmt::format("the step did not end within {} ms; still running on{}",
                                              timeout.timeout_ms, missing)});
}

void RunningSteps::abort_session(const std::string& session, const Status& reason) {
  for (auto& [id, step] : steps_)
    if (step.session == session) abort(id, step, reason);
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
    Step& step = steps_.at(id);
    // What a part that is done has left there, the rest of the step may wait for: a gradient, a token.
    if (step.done[part])
      abort(id, step, message.reason);
    else
      part_done(id, step, part, message.reason);
  }
}

}  // namespace actorflow

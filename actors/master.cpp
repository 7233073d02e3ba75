#include "actors/master.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace actorflow {
namespace {

struct StepTimeout {
  StepId step;
  std::int64_t timeout_ms;
};

MasterReply failed(Status status) {
  MasterReply reply;
  reply.status = std::move(status);
  return reply;
}

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace
}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::StepTimeout)

namespace actorflow {

caf::behavior Master::behavior() {
  return {
      [this](MasterCall& call) { on_call(call); },
      [this](TaskId, GraphRegistered& message) { on_registered(message); },
      [this](TaskId from, StepDone& message) { on_done(from, message); },
      [this](const PeerLost& message) { on_peer_lost(message); },
      [this](const StepTimeout& timeout) { on_timeout(timeout.step, timeout.timeout_ms); },
  };
}

void Master::on_call(MasterCall& call) {
  try {
    std::visit(Overloaded{
                   [&](CreateSession& request) { create_session(request, call.reply); },
                   [&](RunStep& request) { run_step(request, call.reply); },
                   [&](CloseSession& request) { close_session(request, call.reply); },
                   [&](ListDevices&) { list_devices(call.reply); },
               },
               call.request);
  } catch (const Error& error) {
    call.reply(failed(error.status()));
  }
}

void Master::create_session(CreateSession& request, const MasterReplyFn& reply) {
  MasterReply answer;
  answer.session = fmt::format("session-{:016x}", task_->random->next());
  sessions_[answer.session].graph = std::move(request.graph);
  reply(std::move(answer));
}

void Master::list_devices(const MasterReplyFn& reply) {
  MasterReply answer;
  for (const auto& device : known_devices(*task_)) answer.devices.push_back(device.to_string());
  reply(std::move(answer));
}

void Master::run_step(RunStep& request, MasterReplyFn& reply) {
  const auto session = sessions_.find(request.session);
  if (session == sessions_.end())
    throw Error(Code::aborted,
                fmt::format("{} has no session '{}'; it was closed, or the task has restarted",
                            task_->self.name.to_string(), request.session));
  const std::string key = signature(request);
  PlanRef& plan = session->second.plans[key];
  if (!plan) {
    try {
      plan = make_plan(request.session, key, request);
    } catch (const Error&) {
      session->second.plans.erase(key);
      throw;
    }
  }
  if (plan->unregistered > 0)
    plan->waiting.emplace_back(std::move(request), std::move(reply));
  else
    start(plan, request, std::move(reply));
}

Master::PlanRef Master::make_plan(const std::string& session, const std::string& key,
                                  const RunStep& request) {
  auto parts = plan_step(sessions_[session].graph, request, *task_);
  auto plan = std::make_shared<Plan>();
  plan->unregistered = parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    plan->parts.push_back({parts[i].task, 0, std::move(parts[i].args)});
    const auto id = next_request_++;
    registrations_[id] = {session, key, plan, i};
    tell(*task_, parts[i].task, RegisterGraph{id, std::move(parts[i].graph)});
  }
  return plan;
}

void Master::on_registered(GraphRegistered& message) {
  const auto found = registrations_.find(message.request);
  if (found == registrations_.end()) return;
  const Registration registration = std::move(found->second);
  registrations_.erase(found);
  Plan& plan = *registration.plan;
  Part& part = plan.parts[registration.part];
  part.handle = message.handle;
  if (plan.dropped) return tell(*task_, part.task, DeregisterGraph{part.handle});
  if (!message.status.ok()) {
    if (const auto session = sessions_.find(registration.session); session != sessions_.end())
      session->second.plans.erase(registration.signature);
    return drop(plan, message.status);
  }
  if (--plan.unregistered > 0) return;
  for (auto& [request, reply] : std::exchange(plan.waiting, {}))
    start(registration.plan, request, std::move(reply));
}

void Master::drop(Plan& plan, const Status& reason) {
  plan.dropped = true;
  for (auto& entry : std::exchange(plan.waiting, {})) entry.second(failed(reason));
  for (const auto& part : plan.parts)
    if (part.handle != 0) tell(*task_, part.task, DeregisterGraph{part.handle});
}

void Master::start(PlanRef plan, RunStep& request, MasterReplyFn reply) {
  // The top bits stay clear for clients that have signed numbers only.
  const StepId id = task_->random->next() >> 2;
  Step& step = steps_[id];
  step.session = request.session;
  step.plan = plan;
  step.done.resize(plan->parts.size());
  step.running = plan->parts.size();
  step.fetches.resize(request.fetches.size());
  step.reply = std::move(reply);
  for (const auto& part : plan->parts) {
    RunGraph run{part.handle, id, {}};
    for (auto index : part.args)
      run.args.emplace_back(index, request.feeds[static_cast<std::size_t>(index)].second);
    tell(*task_, part.task, std::move(run));
  }
  if (request.timeout_ms > 0)
    self_->delayed_send(self_, std::chrono::milliseconds(request.timeout_ms),
                        StepTimeout{id, request.timeout_ms});
}

void Master::on_done(TaskId from, StepDone& message) {
  const auto found = steps_.find(message.step);
  if (found == steps_.end()) return;
  Step& step = found->second;
  for (auto& [index, tensor] : message.retvals)
    if (index >= 0 && index < static_cast<std::int32_t>(step.fetches.size()))
      step.fetches[static_cast<std::size_t>(index)] = std::move(tensor);
  const auto& parts = step.plan->parts;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].task == from) return part_done(message.step, step, i, message.status);
}

void Master::part_done(StepId id, Step& step, std::size_t part, const Status& status) {
  if (step.done[part]) return;
  step.done[part] = true;
  --step.running;
  if (!status.ok()) abort(id, step, status);
  if (step.running > 0) return;
  MasterReply answer;
  answer.status = std::move(step.status);
  if (answer.status.ok()) answer.fetches = std::move(step.fetches);
  const MasterReplyFn reply = std::move(step.reply);
  steps_.erase(id);
  reply(std::move(answer));
}

// Keeps the root error, and stops the parts that still run when it is the first one.
void Master::abort(StepId id, Step& step, const Status& reason) {
  const bool first = step.status.ok();
  if (first || (is_derived(step.status.code) && !is_derived(reason.code))) step.status = reason;
  if (!first) return;
  for (std::size_t i = 0; i < step.plan->parts.size(); ++i)
    if (!step.done[i])
      tell(*task_, step.plan->parts[i].task,
           AbortStep{id, {Code::aborted, "the step failed elsewhere: " + reason.message}});
}

void Master::on_timeout(StepId id, std::int64_t timeout_ms) {
  const auto found = steps_.find(id);
  if (found == steps_.end()) return;
  std::string missing;
  for (std::size_t i = 0; i < found->second.done.size(); ++i)
    if (!found->second.done[i])
      missing += fmt::format(" {}", task_->name_of(found->second.plan->parts[i].task).to_string());
  abort(id, found->second,
        {Code::deadline_exceeded,
         fmt::format("the step did not end within {} ms; still running on{}", timeout_ms, missing)});
}

void Master::close_session(const CloseSession& request, const MasterReplyFn& reply) {
  const auto session = sessions_.find(request.session);
  if (session == sessions_.end())
    throw Error(Code::aborted, fmt::format("there is no session '{}'", request.session));
  const Status closed{Code::cancelled, "Session::Close"};
  for (auto& [id, step] : steps_)
    if (step.session == request.session) abort(id, step, closed);
  for (const auto& [key, plan] : session->second.plans) drop(*plan, closed);
  sessions_.erase(session);
  reply({});
}

void Master::on_peer_lost(const PeerLost& message) {
  const auto concerns = [&message](const Part& part) { return part.task == message.task; };
  std::erase_if(registrations_, [&](const auto& entry) {
    return concerns(entry.second.plan->parts[entry.second.part]);
  });
  for (auto& entry : sessions_)
    std::erase_if(entry.second.plans, [&](const auto& plan) {
      if (std::ranges::none_of(plan.second->parts, concerns)) return false;
      drop(*plan.second, message.reason);
      return true;
    });
  std::vector<std::pair<StepId, std::size_t>> lost;
  for (const auto& [id, step] : steps_) {
    const auto& parts = step.plan->parts;
    const auto part = std::ranges::find_if(parts, concerns);
    if (part != parts.end()) lost.emplace_back(id, static_cast<std::size_t>(part - parts.begin()));
  }
  for (const auto& [id, part] : lost) part_done(id, steps_.at(id), part, message.reason);
}

caf::behavior master_actor(MasterActor* self, TaskRef task) {
  self->state = std::make_unique<Master>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow

#include "actors/master.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace actorflow {
namespace {

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

caf::behavior Master::behavior() {
  return {
      [this](MasterCall& call) { on_call(call); },
      [this](TaskId, GraphRegistered& message) { on_registered(message); },
      [this](TaskId from, StepDone& message) { steps_.on_done(from, message); },
      [this](const PeerLost& message) { on_peer_lost(message); },
      [this](const StepTimeout& timeout) { steps_.on_timeout(timeout); },
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
    steps_.start(plan->parts, request, std::move(reply));
}

Master::PlanRef Master::make_plan(const std::string& session, const std::string& key,
                                  const RunStep& request) {
  auto parts = plan_step(sessions_[session].graph, request, *task_);
  auto plan = std::make_shared<Plan>();
  plan->unregistered = parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    plan->parts->push_back({parts[i].task, 0, std::move(parts[i].args)});
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
  RegisteredPart& part = (*plan.parts)[registration.part];
  part.handle = message.handle;
  if (plan.dropped) return tell(*task_, part.task, DeregisterGraph{part.handle});
  if (!message.status.ok()) {
    if (const auto session = sessions_.find(registration.session); session != sessions_.end())
      session->second.plans.erase(registration.signature);
    return drop(plan, message.status);
  }
  if (--plan.unregistered > 0) return;
  for (auto& [request, reply] : std::exchange(plan.waiting, {}))
    steps_.start(plan.parts, request, std::move(reply));
}

void Master::drop(Plan& plan, const Status& reason) {
  plan.dropped = true;
  for (auto& entry : std::exchange(plan.waiting, {})) entry.second(failed(reason));
  for (const auto& part : *plan.parts)
    if (part.handle != 0) tell(*task_, part.task, DeregisterGraph{part.handle});
}

void Master::close_session(const CloseSession& request, const MasterReplyFn& reply) {
  const auto session = sessions_.find(request.session);
  if (session == sessions_.end())
    throw Error(Code::aborted, fmt::format("there is no session '{}'", request.session));
  const Status closed{Code::cancelled, "Session::Close"};
  steps_.abort_session(request.session, closed);
  for (const auto& [key, plan] : session->second.plans) drop(*plan, closed);
  sessions_.erase(session);
  reply({});
}

void Master::on_peer_lost(const PeerLost& message) {
  const auto concerns = [&message](const RegisteredPart& part) { return part.task == message.task; };
  std::erase_if(registrations_, [&](const auto& entry) {
    return concerns((*entry.second.plan->parts)[entry.second.part]);
  });
  for (auto& entry : sessions_)
    std::erase_if(entry.second.plans, [&](const auto& plan) {
      if (std::ranges::none_of(*plan.second->parts, concerns)) return false;
      drop(*plan.second, message.reason);
      return true;
    });
  steps_.on_peer_lost(message);
}

caf::behavior master_actor(MasterActor* self, TaskRef task) {
  self->state = std::make_unique<Master>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow

#include "actors/master/master.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "dataflow/graph/containers.h"
#include "dataflow/values/bounded_wait.h"

namespace actorflow {
namespace {

// A reply without results.
MasterReply answer_of(Status status) {
  MasterReply reply;
  reply.status = std::move(status);
  return reply;
}

// Replies with what `action` returns, or with the error that it throws.
template <class Action>
void answering(const MasterReplyFn& reply, Action action) {
  try {
    action();
  } catch (...) {
    reply(answer_of(current_exception_status()));
  }
}

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

caf::behavior Master::behavior() {
  self_->introduce("master", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](MasterCall& call) { on_call(call); },
      [this](const Sender& from, GraphRegistered& message) { planner_.on_registered(from, message); },
      [this](const Sender& from, StepDone& message) {
        steps_.on_done(from, message);
        end_closed_sessions();
      },
      [this](const Sender& from, TaskStatus& message) { planner_.on_task_status(from.task, message); },
      [this](const Sender& from, const ContainersCleared& message) {
        clearing_.answered(message.request, from.task);
      },
      [this](const PeerLost& message) { on_peer_lost(message); },
      [this](const StopSteps& message) { stop_steps(message.reason); },
      [this](const Census& message) { message.answer(census()); },
      [this](const LookForLateSteps& timer) { steps_.on_timer(timer); },
      [this](const PlanTimeout& timeout) {
        if (const auto plan = timeout.plan.lock())
          planner_.stop_waiting(*plan, timeout.ticket, timeout.timeout_ms);
      });
}

// A call whose reply was moved away is answered by whoever holds the reply now.
void Master::refuse(const MasterCall& call, Status why) {
  if (call.reply) call.reply(answer_of(std::move(why)));
}

void Master::on_call(MasterCall& call) {
  std::visit(Overloaded{
                 [&](CreateSession& request) { create_session(request, call.reply); },
                 [&](ExtendSession& request) { extend_session(request, call.reply); },
                 [&](RunStep& request) { run_step(request, call.reply); },
                 [&](MakeCallable& request) { make_callable(request, call.reply); },
                 [&](RunCallable& request) { run_callable(request, call.reply); },
                 [&](ReleaseCallable& request) { release_callable(request, call.reply); },
                 [&](CloseSession& request) { close_session(request, call.reply); },
                 [&](ListDevices& request) { list_devices(request, call.reply); },
                 [&](DescribePlacement& request) { describe_placement(request, call.reply); },
                 [&](Reset& request) { reset(request, call.reply); },
             },
             call.request);
}

MasterSession& Master::session(const std::string& handle) {
  if (const auto found = sessions_.find(handle); found != sessions_.end()) return found->second;
  throw Error(Code::aborted,
              fmt::format("{} has no session '{}'; it was closed or reset, or the task has restarted",
                          task_->self.name.to_string(), handle));
}

void Master::create_session(CreateSession& request, const MasterReplyFn& reply) {
  MasterReply answer;
  answer.session = fmt::format("session-{:016x}", task_->random->next());
  MasterSession created(answer.session, std::move(request.graph), std::move(request.options));
  answer.graph_version = created.graph_version();
  sessions_.emplace(answer.session, std::move(created));
  reply(std::move(answer));
}

void Master::extend_session(ExtendSession& request, const MasterReplyFn& reply) {
  MasterReply answer;
  answer.graph_version = session(request.session).extend(std::move(request.nodes), request.version);
  reply(std::move(answer));
}

void Master::run_step(RunStep& request, MasterReplyFn& reply) {
  MasterSession& owner = session(request.session);
  const StepKind kind = take_kind(request);
  const std::string key = signature(kind);
  PlanRef plan = owner.find_plan(key);
  if (!plan) plan = plan_of(owner, key, kind);
  StepRequest step{std::move(request.session),
                   {},
                   kind.fetches.size(),
                   request.timeout_ms,
                   request.epoch,
                   request.trace};
  step.feeds.reserve(request.feeds.size());
  for (auto& feed : request.feeds) step.feeds.push_back(std::move(feed.second));
  run(owner, plan, std::move(step), reply);
}

void Master::make_callable(MakeCallable& request, const MasterReplyFn& reply) {
  MasterSession& owner = session(request.session);
  StepKind kind{std::move(request.feeds), std::move(request.fetches), std::move(request.targets)};
  std::string key = signature(kind);
  const PlanRef plan = plan_of(owner, key, kind);
  MasterReply answer;
  answer.callable = owner.add_callable({std::move(kind), std::move(key), plan});
  planner_.wait(*plan, [this, reply, answer = std::move(answer), handle = request.session](
                           const Status& status, const Plan&) {
    if (status.ok()) return answering(reply, [&] { reply(answer); });
    if (const auto found = sessions_.find(handle); found != sessions_.end())
      found->second.forget_callable(answer.callable);
    reply(answer_of(status));
  });
}

void Master::run_callable(RunCallable& request, MasterReplyFn& reply) {
  MasterSession& owner = session(request.session);
  auto& callable = owner.callable(request.callable);
  if (callable.plan->dropped) callable.plan = plan_of(owner, callable.signature, callable.kind);
  StepRequest step{std::move(request.session),
                   std::move(request.feeds),
                   callable.kind.fetches.size(),
                   request.timeout_ms,
                   request.epoch,
                   request.trace};
  run(owner, callable.plan, std::move(step), reply);
}

void Master::release_callable(const ReleaseCallable& request, const MasterReplyFn& reply) {
  session(request.session).release_callable(request.callable);
  reply({});
}

PlanRef Master::plan_of(MasterSession& owner, const std::string& key, const StepKind& kind) {
  if (PlanRef kept = owner.find_plan(key)) return kept;
  PlanRef plan = planner_.make(owner.settings(), owner.graph(), kind);
  plan->incarnations = owner.incarnations();
  if (const PlanRef old = owner.keep_plan(key, plan))
    planner_.drop(*old, {Code::aborted, "the session has run too many other kinds of steps since"});
  return plan;
}

void Master::run(MasterSession& owner, const PlanRef& plan, StepRequest step, MasterReplyFn& reply) {
  if (step.timeout_ms < 0)
    throw invalid_argument("a step's timeout must be 0 (the session's) or more ms, got " +
                           std::to_string(step.timeout_ms));
  check_feeds(*plan, step.feeds);
  if (step.timeout_ms == 0) step.timeout_ms = owner.settings()->options.step_timeout_ms;
  if (plan->ready) return start(owner, *plan, std::move(step), reply);
  const auto timeout_ms = step.timeout_ms;
  const auto asked = task_->clock->now();
  const auto waiting = std::make_shared<StepRequest>(std::move(step));
  const auto start_late = [this, waiting, asked, reply](const Status& status, const Plan& made) {
    if (!status.ok()) return reply(answer_of(status));
    const auto waited =
        std::chrono::duration_cast<std::chrono::milliseconds>(task_->clock->now() - asked);
    if (waiting->timeout_ms > 0)
      waiting->timeout_ms = std::max<std::int64_t>(1, waiting->timeout_ms - waited.count());
    answering(reply, [&] {
      MasterSession& asking = session(waiting->session);  // there: its end drops the plan
      MasterReplyFn taken = reply;
      start(asking, made, std::move(*waiting), taken);
    });
  };
  const auto ticket = planner_.wait(*plan, start_late);
  reply = nullptr;
  if (timeout_ms > 0 && ticket != 0)
    self_->delayed_send(self_, bounded_wait(std::chrono::milliseconds(timeout_ms)),
                        PlanTimeout{plan, ticket, timeout_ms});
}

void Master::start(MasterSession& owner, const Plan& plan, StepRequest step, MasterReplyFn& reply) {
  if (plan.parts->empty()) return reply({});  // nothing was asked for
  if (owner.settings()->options.isolate)
    for (const auto& part : *plan.parts) owner.tasks().insert(part.task);
  step.changes_variables = plan.changes_variables;
  steps_.start(plan.parts, std::move(step), reply);
}

void Master::close_session(const CloseSession& request, const MasterReplyFn& reply) {
  session(request.session);  // throws
  end_session(request.session, {Code::cancelled, "Session::Close"}, [reply] { reply({}); });
}

void Master::end_session(const std::string& handle, const Status& reason, std::function<void()> done) {
  auto owner = std::move(sessions_.extract(handle).mapped());
  owner.for_each_plan([&](Plan& plan) { planner_.drop(plan, reason); });
  steps_.abort_session(handle, reason);
  if (!owner.settings()->options.isolate) return done();
  closing_.push_back({handle, std::move(owner.tasks()), std::move(done)});
  end_closed_sessions();
}

// Ends closed sessions of which no step runs: a running one may still write variables of an isolated
// session.
void Master::end_closed_sessions() {
  for (std::size_t i = 0; i < closing_.size();) {
    if (steps_.has_session(closing_[i].handle)) {
      ++i;
      continue;
    }
    const Closing ended = std::move(closing_[i]);
    closing_.erase(closing_.begin() + static_cast<std::ptrdiff_t>(i));
    if (ended.tasks.empty()) {
      ended.done();
      continue;
    }
    // Errors are ignored: a task that is lost has lost its variables, too.
    const auto request = clearing_.begin({ended.tasks.begin(), ended.tasks.end()},
                                         [done = ended.done](const Status&) { done(); });
    for (const TaskId task : ended.tasks) tell(*task_, task, ClearContainers{request, {}, ended.handle});
  }
}

void Master::list_devices(const ListDevices& request, const MasterReplyFn& reply) {
  const auto settings = request.session.empty()
                            ? std::make_shared<const SessionSettings>("", SessionOptions{})
                            : session(request.session).settings();
  planner_.list_devices(settings, [reply](const Status& status, std::vector<DeviceInfo> devices) {
    MasterReply answer = answer_of(status);
    if (status.ok()) answer.devices = std::move(devices);
    reply(std::move(answer));
  });
}

void Master::describe_placement(const DescribePlacement& request, const MasterReplyFn& reply) {
  const MasterSession& owner = session(request.session);
  planner_.place(owner.settings(), owner.graph(), [reply](const Status& status, const GraphDef& placed) {
    answering(reply, [&] {
      MasterReply answer = answer_of(status);
      if (status.ok())
        for (const Node& node : placed.nodes) answer.placement.push_back(node.device);
      reply(std::move(answer));
    });
  });
}

void Master::reset(const Reset& request, const MasterReplyFn& reply) {
  for (const auto& container : request.containers) check_container(container);
  const SessionSettings allowed("", {request.device_filters});
  std::vector<std::string> handles;
  for (const auto& entry : sessions_) handles.push_back(entry.first);
  for (const auto& handle : handles)
    end_session(handle, {Code::cancelled, "Session::Reset: every session of this task was closed"},
                [] {});
  if (request.containers.empty()) return reply({});
  const auto tasks = planner_.allowed_tasks(allowed);
  const auto number =
      clearing_.begin(tasks, [reply](const Status& status) { reply(answer_of(status)); });
  for (const TaskId task : tasks) tell(*task_, task, ClearContainers{number, request.containers, ""});
}

// Steps that have not begun wait for a task that may be gone, for as long as it takes to give it up.
void Master::stop_steps(const Status& reason) {
  for (auto& entry : sessions_)
    entry.second.for_each_plan([&](Plan& plan) {
      if (!plan.ready) planner_.drop(plan, reason);
    });
  steps_.abort_all(reason);
}

void Master::on_peer_lost(const PeerLost& message) {
  const auto concerns = [&message](const RegisteredPart& part) {
    return message.concerns({part.task, part.incarnation});
  };
  planner_.on_peer_lost(message);
  for (auto& entry : sessions_) {
    entry.second.tasks().erase(message.task);
    entry.second.for_each_plan([&](Plan& plan) {
      if (std::ranges::any_of(*plan.parts, concerns)) planner_.drop(plan, message.reason);
    });
  }
  for (auto& closing : closing_) closing.tasks.erase(message.task);
  clearing_.on_peer_lost(message);
  steps_.on_peer_lost(message);
  end_closed_sessions();
}

HeldState Master::census() {
  HeldState held;
  held.sessions = sessions_.size();
  for (auto& entry : sessions_)
    entry.second.for_each_plan([&held](const Plan& plan) { held.plans += plan.dropped ? 0 : 1; });
  held.steps = steps_.size();
  return held;
}

caf::behavior master_actor(MasterActor* self, TaskRef task) {
  self->state = std::make_unique<Master>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow

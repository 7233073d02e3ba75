#include "actors/master/planner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "actors/master/begun_ahead.h"
#include "dataflow/graph/containers.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {
namespace {

bool wants_more_than_the_cpu(const DeviceName& wanted) {
  return wanted.type && (wanted.type != "CPU" || wanted.index.value_or(0) != 0);
}

}  // namespace

void check_feeds(const Plan& plan, const std::vector<Tensor>& feeds) {
  if (feeds.size() != plan.feeds.size())
    throw invalid_argument(
        fmt::format("the step takes {} feeds, but got {}", plan.feeds.size(), feeds.size()));
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const TensorType& type = plan.feeds[i];
    if (!feeds[i].valid() || feeds[i].dtype() != type.dtype ||
        !type.shape.compatible_with(feeds[i].shape()))
      throw invalid_argument(fmt::format("tensor '{}' must be fed {}, but got {}", plan.kind.feeds[i],
                                         type.to_string(), feeds[i].describe()));
  }
}

PlanRef Planner::make(const SettingsRef& session, const GraphDef& graph, const StepKind& kind) {
  auto plan = std::make_shared<Plan>();
  plan->kind = kind;
  plan->feeds = feed_types(graph, kind);
  GraphDef step = simplify_step(graph, kind, *task_);
  plan->changes_variables = changes_variables(step);
  if (session->options.isolate) isolate(step, session->handle);
  place(session, std::move(step), [this, plan, session](const Status& status, const GraphDef& placed) {
    if (plan->dropped) return;
    if (!status.ok()) return drop(*plan, status);
    try {
      register_parts(plan, cut_step(placed, *task_), session->options);
    } catch (...) {
      drop(*plan, current_exception_status());
    }
  });
  return plan;
}

void Planner::place(const SettingsRef& session, GraphDef graph, PlacedThen then) {
  const auto tasks = tasks_to_ask(*session, graph);
  const auto kept = std::make_shared<GraphDef>(std::move(graph));
  devices_.find(tasks, [this, session, kept, then = std::move(then)](const Status& status) {
    if (!status.ok()) return then(status, *kept);
    Status placed;
    try {
      PlacementRules rules{{}, session->options.allow_soft_placement};
      for (const TaskId task : allowed_tasks(*session))
        for (const auto& device : devices_.of(task))
          rules.devices.push_back(DeviceName::parse(device.name));
      place_step(*kept, rules, *task_);
    } catch (...) {
      placed = current_exception_status();
      if (!session->filters.empty())
        placed.message += fmt::format("; the session has the device filters {}",
                                      fmt::join(session->options.device_filters, ", "));
    }
    then(placed, *kept);
  });
}

std::vector<TaskId> Planner::allowed_tasks(const SessionSettings& session) const {
  std::vector<TaskId> tasks;
  for (std::size_t i = 0; i < task_->tasks.size(); ++i)
    if (session.allows(*task_, static_cast<TaskId>(i))) tasks.push_back(static_cast<TaskId>(i));
  return tasks;
}

// The tasks whose devices must be known: those of which a node wants another device than the CPU, which
// every task has.
std::vector<TaskId> Planner::tasks_to_ask(const SessionSettings& session, const GraphDef& graph) const {
  const auto allowed = allowed_tasks(session);
  std::set<TaskId> asked;
  for (const Node& node : graph.nodes) {
    if (node.device.empty()) continue;
    const auto wanted = DeviceName::parse(node.device);
    if (names_no_task(wanted) || !wants_more_than_the_cpu(wanted)) continue;
    for (const TaskId task : allowed)
      if (may_be_on(wanted, task_->name_of(task))) asked.insert(task);
  }
  return {asked.begin(), asked.end()};
}

void Planner::register_parts(const PlanRef& plan, std::vector<PlannedPart> parts,
                             const SessionOptions& options) {
  for (auto& part : parts)
    plan->parts->push_back({part.task, 0, 0, std::move(part.args), part.begins_ahead});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto request = next_request_++;
    registrations_[request] = {plan, i};
    const bool cuda_graphs =
        options.cuda_graphs && options.executor == Executor::lanes && parts[i].may_capture;
    tell(*task_, parts[i].task,
         RegisterGraph{request, std::move(parts[i].graph), cuda_graphs, options.executor});
  }
  if (parts.empty()) set_ready(*plan);
}

void Planner::on_registered(const Sender& from, GraphRegistered& message) {
  const auto found = registrations_.find(message.request);
  if (found == registrations_.end()) return;
  const Registration registration = std::move(found->second);
  registrations_.erase(found);
  Plan& plan = *registration.plan;
  RegisteredPart& part = (*plan.parts)[registration.part];
  part.handle = message.handle;
  part.incarnation = from.incarnation;
  if (plan.dropped) return tell(*task_, part.task, DeregisterGraph{part.handle});
  if (!message.status.ok()) return drop(plan, message.status);
  if (!plan.incarnations->recognise(from))
    return drop(plan, {Code::aborted,
                       fmt::format("{} has probably restarted since this session began, and lost its "
                                   "variables; make a new session",
                                   task_->name_of(from.task).to_string())});
  const auto is_registered = [](const RegisteredPart& p) { return p.handle != 0; };
  if (std::ranges::all_of(*plan.parts, is_registered)) set_ready(plan);
}

void Planner::set_ready(Plan& plan) {
  plan.ready = true;
  for (const auto& waiting : std::exchange(plan.waiting, {})) waiting.then({}, plan);
}

std::uint64_t Planner::wait(Plan& plan, Plan::Then then) {
  if (plan.ready || plan.dropped) {
    then(plan.failure, plan);
    return 0;
  }
  plan.waiting.push_back({next_ticket_, std::move(then)});
  return next_ticket_++;
}

void Planner::stop_waiting(Plan& plan, std::uint64_t ticket, std::int64_t timeout_ms) {
  const auto found = std::ranges::find(plan.waiting, ticket, &Plan::Waiting::ticket);
  if (found == plan.waiting.end()) return;
  std::string missing;
  for (const auto& part : *plan.parts)
    if (part.handle == 0) missing += fmt::format(" {}", task_->name_of(part.task).to_string());
  const auto then = std::move(found->then);
  plan.waiting.erase(found);
  then({Code::deadline_exceeded,
        fmt::format("the step could not begin within {} ms; still waiting for{}", timeout_ms,
                    missing.empty() ? " the devices of its tasks" : missing)},
       plan);
}

void Planner::drop(Plan& plan, const Status& reason) {
  if (plan.dropped) return;
  plan.dropped = true;
  plan.ready = false;
  plan.failure = reason;
  for (const auto& waiting : std::exchange(plan.waiting, {})) waiting.then(reason, plan);
  for (const auto& part : *plan.parts)
    if (part.handle != 0) tell(*task_, part.task, DeregisterGraph{part.handle});
}

void Planner::list_devices(const SettingsRef& session, DevicesThen then) {
  const auto tasks = allowed_tasks(*session);
  devices_.find(tasks, [this, tasks, then = std::move(then)](const Status& status) {
    std::vector<DeviceInfo> devices;
    for (const TaskId task : tasks)
      for (auto& device : devices_.of(task)) devices.push_back(std::move(device));
    then(status, std::move(devices));
  });
}

void Planner::on_peer_lost(const PeerLost& message) {
  std::erase_if(registrations_, [&message](const auto& entry) {
    return (*entry.second.plan->parts)[entry.second.part].task == message.task;
  });
  devices_.on_peer_lost(message);
}

}  // namespace actorflow

#include "actors/training/coordinator.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "actors/core/fence.h"
#include "dataflow/graph/containers.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow {
namespace {

constexpr std::chrono::seconds report_interval{5};

}  // namespace

caf::behavior Coordinator::behavior() {
  self_->delayed_send(self_, report_interval, Tick{});
  self_->introduce("coordinator", &task_->self.name);
  return guarded(
      self_, this,
      [this](const StateCall& message) {
        check_fence(message, epoch_, *task_);
        call(message);
      },
      [this](const Sender&, GradientApplied& message) {
        if (message.epoch == epoch_) barrier(message.coordinator).on_applied(message);
      },
      [this](const GlobalStepIs& message) {
        if (message.epoch == epoch_) barrier(message.variable).on_global_step(message);
      },
      [this](const GiveUp& message) {
        for (auto& entry : barriers_) entry.second.give_up(message.step);
        for (auto& entry : clocks_) entry.second.give_up(message.step);
      },
      [this](const PeerLost& message) {
        for (auto& entry : clocks_) entry.second.on_peer_lost(message.task);
      },
      [this](const EpochRaised& message) { raise(message.epoch); },
      [this](const ClearContainers& message) { clear(message); },
      [this](Tick) { on_tick(); });
}

void Coordinator::call(const StateCall& call) {
  const Node& node = *call.node;
  const auto& global_step = attr<std::string>(node, "variable");
  if (node.op == &take_token_op()) return barrier(global_step).take_token(call);
  if (!call_clocks(call, global_step))
    throw Error(Code::unimplemented,
                fmt::format("node '{}': a coordinator cannot do {}", node.name, node.op->name));
}

bool Coordinator::call_clocks(const StateCall& call, const std::string& global_step) {
  using Handler = void (ClockBarrier::*)(const StateCall&);
  static const std::map<const OpDef*, Handler> handlers = {
      {&join_clocks_op(), &ClockBarrier::join},
      {&advance_clock_op(), &ClockBarrier::advance},
      {&leave_clocks_op(), &ClockBarrier::leave},
      {&clock_statistics_op(), &ClockBarrier::statistics},
  };
  const auto found = handlers.find(call.node->op);
  if (found == handlers.end()) return false;
  ClockBarrier& clocks = clocks_.try_emplace(global_step, global_step, task_).first->second;
  (clocks.*found->second)(call);
  return true;
}

TokenBarrier& Coordinator::barrier(const std::string& global_step) {
  return barriers_.try_emplace(global_step, global_step, task_, epoch_).first->second;
}

void Coordinator::raise(FencingEpoch epoch) {
  epoch_ = epoch;
  for (auto& entry : std::exchange(barriers_, {}))
    entry.second.fail_waiting(fenced("a replica waited for a token", epoch, *task_));
  for (auto& entry : std::exchange(clocks_, {}))
    entry.second.fail_waiting(fenced("a replica waited for slower ones", epoch, *task_));
}

void Coordinator::clear(const ClearContainers& message) {
  const auto clear_in = [&message](auto& waits) {
    for (auto entry = waits.begin(); entry != waits.end();) {
      auto& [name, wait] = *entry;
      if (!is_in(name, message.containers, message.session)) {
        ++entry;
        continue;
      }
      wait.fail_waiting({Code::aborted, fmt::format("the container of '{}' was cleared", name)});
      entry = waits.erase(entry);
    }
  };
  clear_in(barriers_);
  clear_in(clocks_);
}

void Coordinator::on_tick() {
  for (auto& entry : barriers_) entry.second.report_waiting(report_interval);
  for (auto& entry : clocks_) entry.second.report_waiting();
  self_->delayed_send(self_, report_interval, Tick{});
}

caf::behavior coordinator_actor(CoordinatorActor* self, TaskRef task) {
  self->state = std::make_unique<Coordinator>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow

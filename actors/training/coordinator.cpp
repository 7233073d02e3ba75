#include "actors/training/coordinator.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "actors/core/fence.h"
#include "actors/core/wait_reports.h"
#include "dataflow/graph/containers.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow {
namespace {

// As those of saving, whose holds these are, steps of epoch 0 belong to no chief.
bool is_fenced(const StateCall& call) {
  return call.epoch != 0 || (call.node->op != &hold_steps_op() && call.node->op != &release_steps_op());
}

}  // namespace

Coordinator::Coordinator(GuardedActor* self, TaskRef task)
    : self_(self),
      task_(std::move(task)),
      holds_(task_, [this](const std::string& global_step) { return barriers_of(global_step); }) {}

caf::behavior Coordinator::behavior() {
  self_->delayed_send(self_, wait_look_interval, Tick{});
  self_->introduce("coordinator", &task_->self.name);
  return guarded(
      self_, this,
      [this](const StateCall& message) {
        if (is_fenced(message)) check_fence(message, epoch_, *task_);
        call(message);
        holds_.settle();
      },
      [this](const Sender&, GradientApplied& message) {
        if (message.epoch == epoch_) barrier(message.coordinator).on_applied(message);
        holds_.settle();
      },
      [this](const GlobalStepIs& message) {
        if (message.epoch == epoch_) barrier(message.variable).on_global_step(message);
        holds_.settle();
      },
      [this](const GiveUp& message) {
        for (auto& entry : barriers_) entry.second.give_up(message.step);
        for (auto& entry : clocks_) entry.second.give_up(message.step);
        holds_.give_up(message.step);
      },
      [this](const PeerLost& message) {
        for (auto& entry : barriers_) entry.second.on_peer_lost(message.task);
        for (auto& entry : clocks_) entry.second.on_peer_lost(message.task);
        holds_.settle();
      },
      [this](const JobOver& message) { end(message.reason); },
      [this](const HoldExpired& message) { holds_.expire(message); },
      [this](const EpochRaised& message) { raise(message.epoch); },
      [this](const ClearContainers& message) { clear(message); }, [this](Tick) { on_tick(); });
}

void Coordinator::call(const StateCall& call) {
  const Node& node = *call.node;
  if (over_ && (node.op == &take_token_op() || node.op == &advance_clock_op())) throw Error(*over_);
  const auto& global_step = attr<std::string>(node, "variable");
  if (node.op == &take_token_op()) return barrier(global_step).take_token(call);
  if (!call_clocks(call, global_step) && !call_holds(call))
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

bool Coordinator::call_holds(const StateCall& call) {
  const Node& node = *call.node;
  if (node.op == &release_steps_op()) return holds_.release(call), true;
  if (node.op != &hold_steps_op()) return false;
  if (holds_.hold(call))
    self_->delayed_send(self_, std::chrono::milliseconds(attr<std::int64_t>(node, "limit_ms")),
                        HoldExpired{attr<std::string>(node, "variable"), call.reply_to.step});
  return true;
}

StepHolds::Barriers Coordinator::barriers_of(const std::string& global_step) {
  StepHolds::Barriers found;
  if (const auto tokens = barriers_.find(global_step); tokens != barriers_.end())
    found.push_back(&tokens->second);
  if (const auto clocks = clocks_.find(global_step); clocks != clocks_.end())
    found.push_back(&clocks->second);
  return found;
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
  holds_.forget_all(fenced("a checkpoint waited for the end of a step", epoch, *task_));
}

void Coordinator::end(const Status& reason) {
  over_ = reason;
  for (auto& entry : barriers_) entry.second.fail_waiting(reason);
  for (auto& entry : clocks_) entry.second.fail_waiting(reason);
}

void Coordinator::clear(const ClearContainers& message) {
  const auto clear_in = [this, &message](auto& waits) {
    for (auto entry = waits.begin(); entry != waits.end();) {
      auto& [name, wait] = *entry;
      if (!is_in(name, message.containers, message.session)) {
        ++entry;
        continue;
      }
      const Status cleared{Code::aborted, fmt::format("the container of '{}' was cleared", name)};
      wait.fail_waiting(cleared);
      holds_.forget(name, cleared);
      entry = waits.erase(entry);
    }
  };
  clear_in(barriers_);
  clear_in(clocks_);
}

void Coordinator::on_tick() {
  for (auto& entry : barriers_) entry.second.report_waiting();
  for (auto& entry : clocks_) entry.second.report_waiting();
  self_->delayed_send(self_, wait_look_interval, Tick{});
}

caf::behavior coordinator_actor(CoordinatorActor* self, TaskRef task) {
  self->state = std::make_unique<Coordinator>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow

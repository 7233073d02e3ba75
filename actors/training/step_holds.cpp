#include "actors/training/step_holds.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/probes/point.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow {
namespace {

Point held("steps held for a checkpoint");
Point late("steps that could not be held in time");
Point given_up("a hold whose holder was lost");

const std::string& global_step_of(const StateCall& call) {
  return attr<std::string>(*call.node, "variable");
}

void answer(const ReplyTo& to, HoldAnswer what) {
  complete(to, {Tensor::scalar(static_cast<std::int64_t>(what))});
}

std::int64_t ns_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

}  // namespace

bool StepHolds::hold(const StateCall& call) {
  const std::string& name = global_step_of(call);
  const auto barriers = barriers_(name);
  if (barriers.empty()) return answer(call.reply_to, HoldAnswer::nothing_to_hold), false;
  const auto resting = call.inputs[0].values<std::int64_t>();
  const Hold hold{call.reply_to, {resting.begin(), resting.end()}, task_->clock->now(), std::nullopt};
  if (!holds_.emplace(name, hold).second) {
    spdlog::warn("{}: the steps of '{}' are held already; two sessions save at once",
                 task_->self.name.to_string(), name);
    return answer(call.reply_to, HoldAnswer::too_late), false;
  }
  for (HeldSteps* barrier : barriers) barrier->hold();
  return true;
}

bool StepHolds::stand_still(const std::string& global_step, const Hold& hold) const {
  return std::ranges::all_of(barriers_(global_step), [&hold](const HeldSteps* barrier) {
    return barrier->stand_still(hold.resting);
  });
}

void StepHolds::settle() {
  for (auto& [name, hold] : holds_) {
    if (hold.answered || !stand_still(name, hold)) continue;
    hold.answered = task_->clock->now();
    held.hit();
    answer(hold.holder, HoldAnswer::held);
  }
}

void StepHolds::release(const StateCall& call) {
  std::vector<std::int64_t> times{-1, -1};
  const auto found = holds_.find(global_step_of(call));
  if (found != holds_.end() && found->second.holder.step == call.reply_to.step) {
    const auto now = task_->clock->now();
    const auto rested = found->second.answered.value_or(now);
    times = {ns_between(found->second.began, rested), ns_between(rested, now)};
    end(found);
  }
  complete(call.reply_to, {Tensor::of<std::int64_t>({2}, times)});
}

void StepHolds::expire(const HoldExpired& message) {
  const auto found = holds_.find(message.global_step);
  if (found == holds_.end() || found->second.holder.step != message.holder) return;
  late.hit();
  if (!found->second.answered) answer(found->second.holder, HoldAnswer::too_late);
  end(found);
}

void StepHolds::give_up(StepId step) {
  for (auto hold = holds_.begin(); hold != holds_.end();) {
    if (hold->second.holder.step != step) {
      ++hold;
      continue;
    }
    given_up.hit();
    hold = end(hold);
  }
}

void StepHolds::forget(const std::string& global_step, const Status& reason) {
  const auto found = holds_.find(global_step);
  if (found == holds_.end()) return;
  if (!found->second.answered) fail(found->second.holder, reason);
  end(found);
}

void StepHolds::forget_all(const Status& reason) {
  while (!holds_.empty()) forget(std::string(holds_.begin()->first), reason);
}

// Forgotten first: who goes on may ask for the next hold at once.
StepHolds::Holds::iterator StepHolds::end(Holds::iterator hold) {
  const auto barriers = barriers_(hold->first);
  const auto next = holds_.erase(hold);
  for (HeldSteps* barrier : barriers) barrier->resume();
  return next;
}

}  // namespace actorflow

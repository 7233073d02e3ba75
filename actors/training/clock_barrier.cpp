#include "actors/training/clock_barrier.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace actorflow {
namespace {

std::int64_t replica_of(const StateCall& call) { return attr<std::int64_t>(*call.node, "replica"); }

}  // namespace

ReplicaClocks& ClockBarrier::clocks_of(const StateCall& call) {
  const auto bound = attr<std::int64_t>(*call.node, "staleness_bound");
  if (!clocks_) clocks_.emplace(bound);
  if (clocks_->bound() != bound)
    throw invalid_argument(
        fmt::format("node '{}': the staleness bound of '{}' is {}, but this replica wants {}; start "
                    "every replica with the same settings",
                    call.node->name, name_, clocks_->bound(), bound));
  return *clocks_;
}

void ClockBarrier::join(const StateCall& call) {
  clocks_of(call);
  remove(replica_of(call));  // an earlier life
  if (is_held_)
    joining_.add({call.reply_to, call});
  else
    take_part(call);
}

void ClockBarrier::take_part(const StateCall& call) {
  const auto replica = replica_of(call);
  const auto clock = clocks_->join(replica);
  const auto& task = attr<std::string>(*call.node, "task");
  if (!task.empty()) task_of_replica_[replica] = task_->id_of(TaskName::parse(task));
  complete(call.reply_to, {Tensor::scalar(clock)});
}

void ClockBarrier::advance(const StateCall& call) {
  const auto replica = replica_of(call);
  ReplicaClocks& clocks = clocks_of(call);
  const auto slowest = clocks.minimum();
  clocks.advance(replica, call.inputs[0].scalar<std::int64_t>() + 1);
  waiting_.add(replica, {call.reply_to, replica},
               {Code::aborted, fmt::format("replica {} has finished its step anew", replica)});
  if (clocks.minimum() != slowest)
    release_all();
  else if (!is_held_)
    waiting_.serve_one(replica, [this](const Waiting& own) { return lets_go(own); });
}

void ClockBarrier::leave(const StateCall& call) {
  clocks_of(call);
  remove(replica_of(call));
  complete(call.reply_to, {});
}

void ClockBarrier::statistics(const StateCall& call) {
  const auto& clocks = clocks_of(call);
  const auto total = attr<std::int64_t>(*call.node, "total_num_replicas");
  std::vector<std::int64_t> values(static_cast<std::size_t>(total), -1);
  for (const auto& [replica, clock] : clocks.clocks())
    if (replica < total) values[static_cast<std::size_t>(replica)] = clock;
  complete(call.reply_to,
           {Tensor::scalar(clocks.max_lead()), Tensor::of<std::int64_t>({total}, values)});
}

void ClockBarrier::on_peer_lost(TaskId task) {
  for (const auto& [replica, its_task] : task_of_replica_) {
    if (its_task != task || !clocks_->clocks().contains(replica)) continue;
    spdlog::warn("{}: replica {} on {} is gone; the others go on without it",
                 task_->self.name.to_string(), replica, task_->name_of(task).to_string());
    remove(replica);
  }
}

void ClockBarrier::remove(std::int64_t replica) {
  clocks_->leave(replica);
  waiting_.fail_one(replica, {Code::aborted, fmt::format("replica {} has left the training", replica)});
  release_all();
}

bool ClockBarrier::lets_go(const Waiting& waiting) {
  if (!clocks_->may_go_on(waiting.replica)) return false;
  complete(waiting.reply_to, {Tensor::scalar(clocks_->clocks().at(waiting.replica))});
  return true;
}

void ClockBarrier::release_all() {
  if (!is_held_) waiting_.serve([this](const Waiting& waiting) { return lets_go(waiting); });
}

void ClockBarrier::give_up(StepId step) {
  waiting_.give_up(step);
  joining_.give_up(step);
}

void ClockBarrier::fail_waiting(const Status& reason) {
  waiting_.fail_all(reason);
  joining_.fail_all(reason);
}

void ClockBarrier::resume() {
  is_held_ = false;
  joining_.serve([this](const Joining& joining) {
    take_part(joining.call);
    return true;
  });
  release_all();
}

bool ClockBarrier::stand_still(const std::set<std::int64_t>& resting) const {
  if (!clocks_) return true;
  return std::ranges::all_of(clocks_->clocks(), [&](const auto& entry) {
    return resting.contains(entry.first) || waiting_.contains(entry.first);
  });
}

void ClockBarrier::report_waiting() {
  if (!waiting_.tick()) return;
  const std::string whom = is_held_
                               ? "the checkpoint that holds their steps"
                               : fmt::format("replicas {}, which are {} steps behind",
                                             fmt::join(clocks_->slowest(), ", "), clocks_->bound() + 1);
  if (!reports_.is_due(whom, task_->clock->now())) return;
  std::vector<std::int64_t> ahead;
  for (const auto& [replica, waiting] : waiting_) ahead.push_back(replica);
  spdlog::warn("{}: replicas {} wait for {}", task_->self.name.to_string(), fmt::join(ahead, ", "),
               whom);
}

}  // namespace actorflow

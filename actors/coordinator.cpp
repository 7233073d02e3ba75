#include "actors/coordinator.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/fence.h"
#include "dataflow/containers.h"
#include "dataflow/training_ops.h"

namespace actorflow {
namespace {

constexpr std::chrono::seconds report_interval{5};

}  // namespace

Barrier Barrier::of(const Node& node) {
  const auto number = [&node](std::string_view name) { return attr<std::int64_t>(node, name); };
  return {number("accumulators"), number("replicas_to_aggregate"), number("total_num_replicas"),
          number("initial_tokens")};
}

std::string Barrier::to_string() const {
  return fmt::format("accumulators={} replicas_to_aggregate={} total_num_replicas={} initial_tokens={}",
                     accumulators, replicas_to_aggregate, total_num_replicas, initial_tokens);
}

bool StepTokens::take(std::int64_t replica, std::int64_t total_num_replicas) {
  const auto kept = total_num_replicas - static_cast<std::int64_t>(takers_.size());
  if (left_ == 0 || (takers_.contains(replica) && left_ <= kept)) return false;
  takers_.insert(replica);
  --left_;
  return true;
}

caf::behavior Coordinator::behavior() {
  self_->delayed_send(self_, report_interval, Tick{});
  return {
      [this](StateCall& call) {
        try {
          check_fence(call, epoch_, *task_);
          take_token(call);
        } catch (const Error& error) {
          fail(call.reply_to, error.status());
        }
      },
      [this](const Sender&, GradientApplied& message) { on_applied(message); },
      [this](const GlobalStepIs& message) { on_global_step(message); },
      [this](const GiveUp& message) { give_up(message); },
      [this](const EpochRaised& message) { raise(message.epoch); },
      [this](const ClearContainers& message) { clear(message); },
      [this](Tick) { report_waiting(); },
  };
}

void Coordinator::take_token(const StateCall& call) {
  const Node& node = *call.node;
  if (node.op != &take_token_op())
    throw Error(Code::unimplemented,
                fmt::format("node '{}': a coordinator cannot do {}", node.name, node.op->name));
  const auto& name = attr<std::string>(node, "variable");
  const Barrier barrier = Barrier::of(node);
  Group& group = groups_[name];
  if (group.barrier && *group.barrier != barrier)
    throw invalid_argument(
        fmt::format("node '{}': the barrier of '{}' is {}, but this replica wants {}; start every "
                    "replica with the same settings",
                    node.name, name, group.barrier->to_string(), barrier.to_string()));
  group.waiting.push_back({call.reply_to, attr<std::int64_t>(node, "replica")});
  if (!group.barrier) {
    group.barrier = barrier;
    // Initial tokens carry the step at which training starts.
    if (barrier.initial_tokens > 0) caf::anon_send(task_->shard, AskGlobalStep{name});
  }
  release(name, group);
}

void Coordinator::on_applied(GradientApplied& message) {
  if (message.epoch != epoch_) return;
  Group& group = groups_[message.coordinator];
  group.applied[message.global_step].insert(std::move(message.accumulator));
  release(message.coordinator, group);
}

void Coordinator::on_global_step(const GlobalStepIs& message) {
  if (message.epoch != epoch_) return;
  Group& group = groups_[message.variable];
  if (group.barrier && group.tokens.global_step() <= message.value)
    group.tokens = {message.value, group.barrier->initial_tokens};
  release(message.variable, group);
}

void Coordinator::release(const std::string& name, Group& group) {
  if (!group.barrier) return;
  while (!group.applied.empty()) {
    const auto& [step, accumulators] = *group.applied.begin();
    if (static_cast<std::int64_t>(accumulators.size()) < group.barrier->accumulators) break;
    caf::anon_send(task_->shard, SetGlobalStep{name, step, epoch_});
    group.tokens = {step, group.barrier->tokens_per_step()};
    group.applied.erase(group.applied.begin());
  }
  std::erase_if(group.waiting, [&group](const Waiting& next) {
    if (!group.tokens.take(next.replica, group.barrier->total_num_replicas)) return false;
    complete(next.reply_to, {Tensor::scalar<std::int64_t>(group.tokens.global_step())});
    group.waited_a_tick = false;
    return true;
  });
}

void Coordinator::give_up(const GiveUp& message) {
  for (auto& entry : groups_)
    std::erase_if(entry.second.waiting,
                  [&message](const Waiting& next) { return next.reply_to.step == message.step; });
}

void Coordinator::raise(FencingEpoch epoch) {
  epoch_ = epoch;
  for (const auto& entry : std::exchange(groups_, {}))
    for (const auto& next : entry.second.waiting)
      fail(next.reply_to, fenced("a replica waited for a token", epoch, *task_));
}

void Coordinator::clear(const ClearContainers& message) {
  std::erase_if(groups_, [&](const auto& entry) {
    const auto& [name, group] = entry;
    if (!is_in(name, message.containers, message.session)) return false;
    for (const auto& waiting : group.waiting)
      fail(waiting.reply_to, {Code::aborted, fmt::format("the container of '{}' was cleared", name)});
    return true;
  });
}

// Says for what the replicas have waited a whole interval.
void Coordinator::report_waiting() {
  for (auto& [name, group] : groups_) {
    if (!group.waiting.empty() && group.waited_a_tick) {
      const auto done = group.applied.empty() ? 0 : group.applied.begin()->second.size();
      spdlog::warn("{}: {} replicas wait for the next '{}'; {} of {} variables have been updated",
                   task_->self.name.to_string(), group.waiting.size(), name, done,
                   group.barrier->accumulators);
    }
    group.waited_a_tick = !group.waiting.empty();
  }
  self_->delayed_send(self_, report_interval, Tick{});
}

caf::behavior coordinator_actor(CoordinatorActor* self, TaskRef task) {
  self->state = std::make_unique<Coordinator>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow

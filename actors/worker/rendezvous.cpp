#include "actors/worker/rendezvous.h"

#include <algorithm>
#include <chrono>

#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point late_tensor("a tensor came for a step given up");

// How many given-up steps are remembered; a tensor for one given up longer ago is kept until a tick.
constexpr std::size_t max_poisoned = 4096;
constexpr std::chrono::minutes tick_interval{1};

}  // namespace

caf::behavior Rendezvous::behavior() {
  self_->delayed_send(self_, tick_interval, Tick{});
  self_->introduce("rendezvous", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](const Sender&, TensorDelivery& delivery) { deliver(delivery); },
      [this](const AwaitTensor& request) { await(request); },
      [this](const GiveUp& message) { poison(message); },
      [this](const Census& message) { message.answer(census()); },
      [this](Tick) {
        on_tick();
        self_->delayed_send(self_, tick_interval, Tick{});
      });
}

void Rendezvous::deliver(TensorDelivery& delivery) {
  if (poisoned_.contains(delivery.step)) return late_tensor.hit();
  steps_[delivery.step].channels[delivery.channel].tensors.push_back(std::move(delivery.tensor));
  settle(delivery.step, delivery.channel);
}

void Rendezvous::await(const AwaitTensor& request) {
  const StepId step = request.reply_to.step;
  if (const auto found = poisoned_.find(step); found != poisoned_.end())
    return fail(request.reply_to, found->second);
  steps_[step].channels[request.channel].waiting.push_back(request.reply_to);
  settle(step, request.channel);
}

void Rendezvous::settle(StepId step, std::uint32_t number) {
  auto& channels = steps_[step].channels;
  Channel& channel = channels[number];
  while (!channel.tensors.empty() && !channel.waiting.empty()) {
    complete(channel.waiting.front(), {std::move(channel.tensors.front())});
    channel.tensors.pop_front();
    channel.waiting.pop_front();
  }
  if (channel.empty()) channels.erase(number);
  if (channels.empty()) steps_.erase(step);
}

void Rendezvous::poison(const GiveUp& message) {
  if (!poisoned_.emplace(message.step, message.reason).second) return;
  poisoned_order_.push_back({message.step, ticks_});
  if (poisoned_order_.size() > max_poisoned) forget_oldest_poison();
  if (const auto found = steps_.find(message.step); found != steps_.end()) {
    for (const auto& entry : found->second.channels)
      for (const auto& waiting : entry.second.waiting) fail(waiting, message.reason);
    steps_.erase(found);
  }
}

void Rendezvous::forget_oldest_poison() {
  poisoned_.erase(poisoned_order_.front().step);
  poisoned_order_.pop_front();
}

void Rendezvous::on_tick() {
  ++ticks_;
  while (!poisoned_order_.empty() && poisoned_order_.front().tick + 2 <= ticks_) forget_oldest_poison();
  ask_for_claims();
}

void Rendezvous::ask_for_claims() {
  Unclaimed unclaimed;
  for (auto& [step, table] : steps_)
    if (std::exchange(table.old, true)) unclaimed.steps.push_back(step);
  if (!unclaimed.steps.empty()) caf::anon_send(task_->worker, std::move(unclaimed));
}

HeldState Rendezvous::census() const {
  HeldState held;
  for (const auto& step : steps_)
    for (const auto& [number, channel] : step.second.channels)
      held.waiting_transfers += channel.tensors.size() + channel.waiting.size();
  return held;
}

caf::behavior rendezvous_actor(RendezvousActor* self, TaskRef task) {
  self->state = std::make_unique<Rendezvous>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow

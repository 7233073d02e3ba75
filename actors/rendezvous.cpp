#include "actors/rendezvous.h"

#include "actors/task_context.h"

namespace actorflow {
namespace {

// How many given-up steps are remembered; what arrives for one given up longer ago would stay behind.
constexpr std::size_t max_poisoned = 4096;

}  // namespace

caf::behavior Rendezvous::behavior() {
  return {
      [this](TaskId, TensorDelivery& delivery) { deliver(delivery); },
      [this](const AwaitTensor& request) { await(request); },
      [this](const GiveUp& message) { poison(message); },
  };
}

void Rendezvous::deliver(TensorDelivery& delivery) {
  if (poisoned_.contains(delivery.step)) return;
  steps_[delivery.step][delivery.channel].tensors.push_back(std::move(delivery.tensor));
  settle(delivery.step, delivery.channel);
}

void Rendezvous::await(const AwaitTensor& request) {
  const StepId step = request.reply_to.step;
  if (const auto found = poisoned_.find(step); found != poisoned_.end())
    return fail(request.reply_to, found->second);
  steps_[step][request.channel].waiting.push_back(request.reply_to);
  settle(step, request.channel);
}

void Rendezvous::settle(StepId step, std::uint32_t number) {
  Table& table = steps_[step];
  Channel& channel = table[number];
  while (!channel.tensors.empty() && !channel.waiting.empty()) {
    complete(channel.waiting.front(), {std::move(channel.tensors.front())});
    channel.tensors.pop_front();
    channel.waiting.pop_front();
  }
  if (channel.empty()) table.erase(number);
  if (table.empty()) steps_.erase(step);
}

void Rendezvous::poison(const GiveUp& message) {
  if (!poisoned_.emplace(message.step, message.reason).second) return;
  poisoned_order_.push_back(message.step);
  if (poisoned_order_.size() > max_poisoned) {
    poisoned_.erase(poisoned_order_.front());
    poisoned_order_.pop_front();
  }
  if (const auto found = steps_.find(message.step); found != steps_.end()) {
    for (const auto& entry : found->second)
      for (const auto& waiting : entry.second.waiting) fail(waiting, message.reason);
    steps_.erase(found);
  }
}

caf::behavior rendezvous_actor(RendezvousActor* self) { return self->state.behavior(); }

}  // namespace actorflow

#include "actors/queues/queue_shard.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <unordered_map>
#include <utility>

#include "actors/core/fence.h"
#include "dataflow/graph/containers.h"

namespace actorflow {
namespace {

using Action = void (*)(TensorQueue& queue, StateCall& call);

TensorQueue::Asker asker(const StateCall& call) { return {call.reply_to, call.epoch}; }

const std::unordered_map<const OpDef*, Action>& actions() {
  static const std::unordered_map<const OpDef*, Action> table = {
      {&queue_enqueue_op(),
       [](TensorQueue& queue, StateCall& call) { queue.enqueue(asker(call), std::move(call.inputs)); }},
      {&queue_enqueue_many_op(),
       [](TensorQueue& queue, StateCall& call) {
         queue.enqueue_many(asker(call), std::move(call.inputs));
       }},
      {&queue_dequeue_op(), [](TensorQueue& queue, StateCall& call) { queue.dequeue(asker(call)); }},
      {&queue_dequeue_many_op(),
       [](TensorQueue& queue, StateCall& call) {
         queue.dequeue_many(asker(call), attr<std::int64_t>(*call.node, "count"), false);
       }},
      {&queue_dequeue_up_to_op(),
       [](TensorQueue& queue, StateCall& call) {
         queue.dequeue_many(asker(call), attr<std::int64_t>(*call.node, "count"), true);
       }},
      {&queue_close_op(),
       [](TensorQueue& queue, StateCall& call) {
         queue.close(attr<bool>(*call.node, "cancel_pending_enqueues"));
         complete(call.reply_to, {});
       }},
      {&queue_size_op(),
       [](TensorQueue& queue, StateCall& call) {
         complete(call.reply_to, {Tensor::scalar<std::int64_t>(queue.size())});
       }},
      {&queue_is_closed_op(),
       [](TensorQueue& queue, StateCall& call) {
         complete(call.reply_to, {Tensor::scalar<bool>(queue.closed())});
       }},
  };
  return table;
}

}  // namespace

caf::behavior QueueShard::behavior() {
  self_->delayed_send(self_, wait_look_interval, Tick{});
  self_->introduce("queue-shard", &task_->self.name);
  return guarded(
      self_, this,
      [this](StateCall& call) {
        // Sessions that belong to no job are of epoch 0: they may feed queues, which outlive jobs.
        if (call.epoch != 0) check_fence(call, epoch_, *task_);
        run(call);
      },
      [this](const GiveUp& message) {
        for (auto& [name, entry] : queues_) entry.queue.give_up(message.step);
      },
      [this](const EpochRaised& message) { raise(message.epoch); },
      [this](const ClearContainers& message) { clear(message); },
      [this](const ServeInput& message) { inputs_[message.name] = message.input; },
      [this](Tick) { report_waiting(); });
}

void QueueShard::run(StateCall& call) {
  const Node& node = *call.node;
  if (node.op == &iterator_get_next_op()) return get_next(call);
  const auto action = actions().find(node.op);
  if (action == actions().end()) throw Error(Code::unimplemented, "a queue shard cannot do this");
  action->second(queue_of(node), call);
}

TensorQueue& QueueShard::queue_of(const Node& node) {
  QueueSpec spec = QueueSpec::of(node);
  const auto found = queues_.find(spec.options.name);
  if (found == queues_.end()) {
    const std::string name = spec.options.name;
    return queues_.emplace(name, Entry{TensorQueue(std::move(spec))}).first->second.queue;
  }
  TensorQueue& queue = found->second.queue;
  if (queue.spec() != spec)
    throw invalid_argument(fmt::format("this is the {}, but {} has the {}; give it another name",
                                       spec.to_string(), task_->self.name.to_string(),
                                       queue.spec().to_string()));
  return queue;
}

void QueueShard::get_next(StateCall& call) {
  const auto& name = attr<std::string>(*call.node, "iterator");
  const auto found = inputs_.find(name);
  if (found == inputs_.end())
    throw Error(Code::failed_precondition,
                fmt::format("{} serves no input '{}'; call Server::serve_input first",
                            task_->self.name.to_string(), name));
  caf::anon_send(found->second, std::move(call));
}

void QueueShard::raise(FencingEpoch epoch) {
  epoch_ = epoch;
  const Status reason = fenced("a step waited at a queue", epoch, *task_);
  for (auto& [name, entry] : queues_) entry.queue.fence(epoch, reason);
}

void QueueShard::clear(const ClearContainers& message) {
  std::erase_if(queues_, [&](const auto& entry) {
    if (!is_in(entry.first, message.containers, message.session)) return false;
    entry.second.queue.abandon(
        {Code::aborted, fmt::format("the container of queue '{}' was cleared", entry.first)});
    return true;
  });
}

// Reports queues at which nobody has been served since the last look.
void QueueShard::report_waiting() {
  for (auto& [name, entry] : queues_) {
    const std::string waiting = entry.queue.waiting();
    if (!waiting.empty() && entry.waited && entry.served_before == entry.queue.served() &&
        entry.reports.is_due({}, task_->clock->now()))
      spdlog::warn("{}: {}", task_->self.name.to_string(), waiting);
    entry.waited = !waiting.empty();
    entry.served_before = entry.queue.served();
  }
  self_->delayed_send(self_, wait_look_interval, Tick{});
}

caf::behavior queue_shard_actor(QueueShardActor* self, TaskRef task) {
  self->state = std::make_unique<QueueShard>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow

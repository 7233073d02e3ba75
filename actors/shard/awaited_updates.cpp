#include "actors/shard/awaited_updates.h"

#include <utility>

#include "actors/core/executable.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow {
namespace {

bool is_contribution(const Node& node) {
  return node.op == &accumulate_gradient_op() || node.op == &accumulate_sparse_gradient_op();
}

// Whether the replica's gradient still waits for those of others.
bool waits(ShardState& shard, const Node& node) {
  const ShardVariable* variable = shard.find(variable_of(node));
  return variable && variable->accumulator.has(static_cast<int>(attr<std::int64_t>(node, "replica")));
}

}  // namespace

void AwaitedUpdates::add(const AwaitUpdates& request, ShardState& shard) {
  auto waiting = std::make_unique<Waiting>(Waiting{
      request.step,
      request.executable,
      {},
      0,
      caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, UpdatesMade{request.step})});
  for (NodeId id = 0; id < request.executable->size(); ++id)
    if (const Node& node = *request.executable->node(id).node; is_contribution(node))
      waiting->contributions.push_back(&node);
  make_room(*waiting);
  ++waiting_;
  place(std::move(waiting), shard);
}

// For a further step, in each vector that it may come into.
void AwaitedUpdates::make_room(const Waiting& waiting) {
  if (waiting_ == 0) queues_.clear();  // their variables may be gone
  const std::size_t wanted = waiting_ < room_ ? room_ : 2 * (waiting_ + 1);
  for (const Node* node : waiting.contributions) queues_[variable_of(*node)];
  for (auto& [variable, queue] : queues_) queue.steps.reserve(wanted);
  looked_at_.reserve(wanted);
  room_ = wanted;
}

void AwaitedUpdates::place(WaitingRef waiting, ShardState& shard) noexcept {
  // An update that was seen made stays so, though the replica contributes anew in the step that waits.
  auto& made = waiting->made;
  const auto& contributions = waiting->contributions;
  while (made < contributions.size() && !waits(shard, *contributions[made])) ++made;
  if (made == contributions.size()) {
    --waiting_;
    return shard.task->worker->enqueue(std::move(waiting->answer), nullptr);
  }
  auto& [variable, queue] = *queues_.find(variable_of(*contributions[made]));
  if (queue.steps.empty()) is_changed(queue, shard, variable);
  queue.steps.push_back(std::move(waiting));
}

bool AwaitedUpdates::is_changed(Queue& queue, ShardState& shard, const std::string& variable) {
  const ShardVariable* found = shard.find(variable);
  if (!found) return true;
  const std::int64_t global_step = found->accumulator.global_step();
  const std::size_t gradients = found->accumulator.size();
  const bool changed = global_step != queue.global_step || gradients < queue.gradients;
  queue.global_step = global_step;
  queue.gradients = gradients;
  return changed;
}

void AwaitedUpdates::give_up(StepId step) {
  for (auto& [variable, queue] : queues_)
    waiting_ -=
        std::erase_if(queue.steps, [step](const WaitingRef& waiting) { return waiting->step == step; });
}

void AwaitedUpdates::answer(ShardState& shard) noexcept {
  for (auto& [variable, queue] : queues_) {
    if (queue.steps.empty() || !is_changed(queue, shard, variable)) continue;
    looked_at_.swap(queue.steps);
    for (WaitingRef& waiting : looked_at_) place(std::move(waiting), shard);
    looked_at_.clear();
  }
}

}  // namespace actorflow

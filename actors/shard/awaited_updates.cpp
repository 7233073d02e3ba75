#include "actors/shard/awaited_updates.h"

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

void AwaitedUpdates::add(const AwaitUpdates& request) {
  Waiting waiting{
      request.step,
      request.executable,
      {},
      0,
      caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, UpdatesMade{request.step})};
  for (NodeId id = 0; id < request.executable->size(); ++id)
    if (const Node& node = *request.executable->node(id).node; is_contribution(node))
      waiting.contributions.push_back(&node);
  waiting_.push_back(std::move(waiting));
}

void AwaitedUpdates::give_up(StepId step) {
  std::erase_if(waiting_, [step](const Waiting& waiting) { return waiting.step == step; });
}

// Answers requests whose updates have all been made. An update that was seen made stays so, though the
// replica contributes anew in the step that waits.
void AwaitedUpdates::answer(ShardState& shard) noexcept {
  std::erase_if(waiting_, [&shard](Waiting& waiting) {
    auto& made = waiting.made;
    const auto& contributions = waiting.contributions;
    while (made < contributions.size() && !waits(shard, *contributions[made])) ++made;
    if (made < contributions.size()) return false;
    shard.task->worker->enqueue(std::move(waiting.answer), nullptr);
    return true;
  });
}

}  // namespace actorflow

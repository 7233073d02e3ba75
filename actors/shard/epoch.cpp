// The fencing epoch: what belongs to an earlier life of the job is forgotten.
#include <fmt/format.h>

#include <array>

#include "actors/core/fence.h"
#include "actors/shard/state.h"
#include "dataflow/graph/state_ops.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

StateResult raise_epoch(ShardState& shard, StateCall& call) {
  const auto epoch = call.inputs[0].scalar<std::int64_t>();
  if (epoch <= shard.epoch)
    throw Error(fenced(fmt::format("node '{}' wants to raise the epoch to {}", call.node->name, epoch),
                       shard.epoch, *shard.task));
  shard.epoch = epoch;
  for (auto& [name, variable] : shard.variables) {
    variable.accumulator = {};
    variable.previous = {};
    variable.previous_rows.reset();
    variable.waiting_ticks = 0;
  }
  shard.snapshots.clear();
  forget_conditional(shard, fenced("a step waited for gradients", epoch, *shard.task));
  // These actors hear of the epoch before its steps reach them: a program starts such a step only after
  // this shard's answer.
  for (const auto& actor : {shard.task->coordinator, shard.task->queues, shard.task->collectives})
    caf::anon_send(actor, EpochRaised{epoch});
  return Outputs{};
}

StateResult read_epoch(ShardState& shard, StateCall&) {
  return Outputs{Tensor::scalar<std::int64_t>(shard.epoch)};
}

}  // namespace

std::span<const StateOp> epoch_handlers() {
  // Raising is not fenced like other ops: it compares epochs itself.
  static const std::array all = {
      StateOp{&raise_epoch_op(), raise_epoch, Effect::reads},
      StateOp{&read_epoch_op(), read_epoch, Effect::reads},
  };
  return all;
}

}  // namespace actorflow

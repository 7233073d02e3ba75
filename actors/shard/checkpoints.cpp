// Saving and restoring: the shard takes a snapshot or puts values in place, the files are another
// actor's.
#include <fmt/format.h>

#include <array>

#include "actors/checkpoint/files/io_actor.h"
#include "actors/core/fence.h"
#include "actors/probes/planted_bug.h"
#include "actors/shard/state.h"
#include "dataflow/ops/checkpoint_ops.h"
#include "dataflow/ops/optimizer.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

void add_slots(const VariableInCheckpoint& place, const ShardVariable& variable,
               std::vector<SavedTensor>& to) {
  if (variable.state.slots.empty()) return;
  const auto names = slot_names(make_optimizer(variable.slots_of, 1));
  const std::string stored = to.back().stored_name;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string suffix = fmt::format("/{}/{}", variable.slots_of, names[i]);
    to.push_back({stored + suffix, place.name + suffix, place.name, place.first_row, place.full_rows,
                  on_device(variable.state.slots[i], cpu_device())});
  }
}

// What a chief of an earlier epoch saved would be of no life of the job. Epoch 0 belongs to no chief.
StateResult save(ShardState& shard, StateCall& call) {
  if (call.epoch != 0) check_fence(call, shard.epoch, *shard.task);
  SaveTensors job{call.reply_to,
                  call.inputs[0].scalar<std::string>(),
                  call.inputs[1].scalar<std::string>(),
                  call.inputs[2].scalar<std::int64_t>(),
                  {}};
  for (const auto& place : variables_in_checkpoint(*call.node)) {
    const ShardVariable& variable = shard.initialized(place.variable);
    const bool is_whole = place.full_rows < 0;
    job.tensors.push_back({is_whole ? place.name : place.variable, place.name, "", place.first_row,
                           place.full_rows, on_device(variable.state.value, cpu_device())});
    add_slots(place, variable, job.tensors);
  }
  caf::anon_send(shard.task->checkpoint_io, std::move(job));
  return std::nullopt;
}

StateResult restore(ShardState& shard, StateCall& call) {
  caf::anon_send(shard.task->checkpoint_io,
                 LoadTensors{call.reply_to, call.inputs[0].scalar<std::string>(),
                             call.inputs[1].scalar<std::string>(), variables_in_checkpoint(*call.node),
                             call.epoch});
  return std::nullopt;
}

}  // namespace

// What accumulators hold belongs to the values that are replaced.
void put_restored(ShardState& shard, TensorsLoaded& loaded) {
  if (loaded.epoch < shard.epoch)  // raised while the files were read
    return fail(loaded.reply_to, fenced("restoring a checkpoint", shard.epoch, *shard.task));
  for (auto& restored : loaded.variables) {
    ShardVariable variable;
    variable.state = std::move(restored.state);
    if (planted(PlantedBug::forgotten_slots)) variable.state.slots.clear();
    variable.slots_of = std::move(restored.optimizer);
    if (planted(PlantedBug::kept_gradients))
      variable.accumulator = std::move(shard.variables[restored.variable].accumulator);
    shard.variables.insert_or_assign(restored.variable, std::move(variable));
  }
  complete(loaded.reply_to, {});
}

std::span<const StateOp> checkpoint_handlers() {
  static const std::array all = {
      StateOp{&save_variables_op(), save, Effect::reads},
      StateOp{&restore_variables_op(), restore},
  };
  return all;
}

}  // namespace actorflow

// Saving and restoring: the shard takes a snapshot or puts values in place, the files are another
// actor's.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "actors/checkpoint/files/io_actor.h"
#include "actors/core/fence.h"
#include "actors/shard/state.h"
#include "actors/shard/state_copy.h"
#include "dataflow/ops/checkpoint_ops.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

// The other replicas' slices of divided slots, by variable.
using OtherSlots = std::map<std::string, std::vector<SentSlots>, std::less<>>;

OtherSlots slots_of_others(const StateCall& call) {
  const auto names = attr<Tensor>(*call.node, "sliced").values<std::string>();
  OtherSlots others;
  for (std::size_t input = 2; input < call.inputs.size(); ++input) {
    auto states = decode_states(call.inputs[input], names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
      others[names[i]].push_back(decoded(std::move(states[i])));
  }
  return others;
}

// Throws aborted unless slots and value are of the same step: one that failed half-way has changed
// slots, but no value.
void expect_slots_of(const ShardVariable& variable, const std::string& name,
                     const ShardVariable* counter) {
  if (!variable.slice || variable.slice->count == 0 || variable.slots_step == -1 || !counter) return;
  const auto step = counter->state.value.scalar<std::int64_t>();
  if (variable.slots_step != step)
    throw Error(Code::aborted,
                fmt::format("the slots of '{}' are as after step {}, its value as after {}", name,
                            variable.slots_step, step));
}

void add_slots(const ShardState& shard, const VariableInCheckpoint& place, const WholeSlots& whole,
               std::vector<SavedTensor>& to) {
  if (whole.slots.empty()) return;
  const auto names = shard.task->optimizers->at(whole.slots_of).slots();
  const std::string stored = to.back().stored_name;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string suffix = fmt::format("/{}/{}", whole.slots_of, names[i]);
    to.push_back({stored + suffix, place.name + suffix, place.name, place.first_row, place.full_rows,
                  on_device(whole.slots[i], cpu_device())});
  }
}

// Refuses a chief of an earlier epoch: its checkpoint would mix two lives of the job. Epoch 0 belongs to
// no chief.
void check_epoch(const ShardState& shard, const StateCall& call) {
  if (call.epoch != 0) check_fence(call, shard.epoch, *shard.task);
}

// Collects the updates that variables have had, for the outputs of SnapshotVariables.
class Updates {
 public:
  void add(const ShardVariable& variable, const std::string& global_step) {
    for (const auto& [key, serial] : variable.applied.last()) had(name_of(key), serial);
    const auto step = variable.accumulator.global_step();
    if (step > 0 && variable.accumulate &&
        attr<std::string>(*variable.accumulate, "global_step") == global_step)
      had("", step);
  }
  void count(const ShardVariable& global_step) {
    numbers_[""][2] = global_step.state.value.scalar<std::int64_t>();
    for (const auto& [key, serial] : global_step.applied.last()) numbers_[name_of(key)][2] = serial;
  }

  std::vector<Tensor> as_tensors() const {
    const auto count = static_cast<std::int64_t>(numbers_.size());
    std::vector<std::string> names;
    std::vector<std::int64_t> values;
    for (const auto& [name, three] : numbers_) {
      names.push_back(name);
      values.insert(values.end(), three.values.begin(), three.values.end());
    }
    return {Tensor::of<std::string>({count}, names), Tensor::of<std::int64_t>({count, 3}, values)};
  }

 private:
  struct Three {
    std::array<std::int64_t, 3> values{-1, -1, -1};
    std::int64_t& operator[](std::size_t i) { return values[i]; }
  };

  static std::string name_of(const AppliedUpdates::Key& key) {
    return fmt::format("{}/{}", key.train_op, key.replica);
  }
  void had(const std::string& kind, std::int64_t number) {
    Three& three = numbers_[kind];
    three[0] = three[0] < 0 ? number : std::min(three[0], number);
    three[1] = std::max(three[1], number);
  }

  std::map<std::string, Three> numbers_;
};

StateResult snapshot(ShardState& shard, StateCall& call) {
  check_epoch(shard, call);
  const auto& global_step = attr<std::string>(*call.node, "global_step");
  const ShardVariable* counter = shard.find(global_step);
  std::vector<SavedTensor> tensors;
  OtherSlots others = slots_of_others(call);
  Updates updates;
  for (const auto& place : variables_in_checkpoint(*call.node)) {
    const ShardVariable& variable = shard.initialized(place.variable);
    const bool is_whole = place.full_rows < 0;
    tensors.push_back({is_whole ? place.name : place.variable, place.name, "", place.first_row,
                       place.full_rows, on_device(variable.state.value, cpu_device())});
    expect_slots_of(variable, place.variable, counter);
    add_slots(shard, place, whole_slots(shard, place.variable, variable, std::move(others[place.variable])),
              tensors);
    if (&variable != counter) updates.add(variable, global_step);
  }
  if (counter) updates.count(*counter);
  shard.snapshots.insert_or_assign(call.inputs[0].scalar<std::string>(), std::move(tensors));
  std::vector<Tensor> outputs = updates.as_tensors();
  outputs.insert(outputs.begin(), counter ? counter->state.value : Tensor::scalar<std::int64_t>(-1));
  return outputs;
}

StateResult write(ShardState& shard, StateCall& call) {
  check_epoch(shard, call);
  const auto& folder = call.inputs[0].scalar<std::string>();
  const auto& file = call.inputs[1].scalar<std::string>();
  const auto kept = shard.snapshots.find(folder);
  if (file.empty()) {
    if (kept != shard.snapshots.end()) shard.snapshots.erase(kept);
    return std::vector{Tensor::scalar<std::string>("")};
  }
  if (kept == shard.snapshots.end())
    throw Error(
        Code::aborted,
        fmt::format("{} has nothing more to write into '{}': it has restarted, or another session "
                    "has saved there; save again",
                    shard.task->self.name.to_string(), folder));
  caf::anon_send(shard.task->checkpoint_io,
                 SaveTensors{call.reply_to, folder, file, call.inputs[2].scalar<std::int64_t>(),
                             std::move(kept->second)});
  shard.snapshots.erase(kept);
  return std::nullopt;
}

// "adam" in "dense/weights/adam/m", a slot of "dense/weights".
std::string optimizer_of(const SavedTensor& slot) {
  const std::size_t begin = slot.variable.size() + 1;
  return slot.name.substr(begin, slot.name.rfind('/') - begin);
}

StateResult take_from_snapshot(ShardState& shard, StateCall& call) {
  const auto& folder = call.inputs[0].scalar<std::string>();
  const auto& name = attr<std::string>(*call.node, "name");
  CopiedState state;
  const auto kept = shard.snapshots.find(folder);
  if (kept != shard.snapshots.end())
    for (const SavedTensor& saved : kept->second) {
      const bool is_slot = saved.variable == name;
      if (!is_slot && saved.name != name) continue;
      if (is_slot) state.slots_of = optimizer_of(saved);
      state.tensors.push_back(saved.tensor);  // the value comes before its slots
    }
  if (state.tensors.empty())
    throw Error(Code::aborted,
                fmt::format("{} keeps no '{}' for '{}': it has restarted, or it was taken",
                            shard.task->self.name.to_string(), name, folder));
  std::vector<Tensor> outputs{state.tensors.front(), encode_states({&state, 1})};
  std::erase_if(kept->second,
                [&](const SavedTensor& saved) { return saved.name == name || saved.variable == name; });
  return outputs;
}

StateResult restore(ShardState& shard, StateCall& call) {
  caf::anon_send(shard.task->checkpoint_io,
                 LoadTensors{call.reply_to, call.inputs[0].scalar<std::string>(),
                             call.inputs[1].scalar<std::string>(), variables_in_checkpoint(*call.node),
                             call.epoch});
  return std::nullopt;
}

}  // namespace

// Empties accumulators, too: their gradients belong to the values that are replaced.
void put_restored(ShardState& shard, TensorsLoaded& loaded) {
  if (loaded.epoch < shard.epoch)  // the epoch was raised while the files were read
    return fail(loaded.reply_to, fenced("restoring a checkpoint", shard.epoch, *shard.task));
  for (auto& restored : loaded.variables) {
    ShardVariable variable;
    variable.state = std::move(restored.state);
    variable.slots_of = std::move(restored.optimizer);
    shard.variables.insert_or_assign(restored.variable, std::move(variable));
  }
  complete(loaded.reply_to, {});
}

std::span<const StateOp> checkpoint_handlers() {
  static const std::array all = {
      StateOp{&snapshot_variables_op(), snapshot, Effect::reads},
      StateOp{&write_snapshot_op(), write, Effect::reads},
      StateOp{&take_from_snapshot_op(), take_from_snapshot, Effect::reads},
      StateOp{&restore_variables_op(), restore},
  };
  return all;
}

}  // namespace actorflow

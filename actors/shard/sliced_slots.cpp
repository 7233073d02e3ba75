// The slots of a sharded optimizer, from one rank to another: gathered for a checkpoint, and divided
// after a restore.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/executable.h"
#include "actors/shard/node_slices.h"
#include "actors/shard/state.h"
#include "dataflow/ops/sliced_ops.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

// Throws aborted: a rank that was lost and came back no longer has the slots.
[[noreturn]] void slots_are_gone(const Node& node, const std::string& name, const std::string& what) {
  throw Error(Code::aborted, fmt::format("node '{}' ({}): the slots of '{}' are gone: {}", node.name,
                                         node.op->name, name, what));
}

SentSlots slots_after(const Node& node, const ShardVariable* variable, const std::string& name,
                      const SlotSlice& slice, std::int64_t step) {
  if (slice.count == 0) return {};
  if (!variable) slots_are_gone(node, name, "it has no value");
  if (variable->slots_step != step)
    slots_are_gone(node, name,
                   fmt::format("they are as after step {}, and not {}", variable->slots_step, step));
  if (variable->slots_of.empty()) return {.slots_of = {}, .slice = slice, .slots = {}};
  if (variable->slice == slice) return {variable->slots_of, slice, variable->state.slots};
  if (variable->slice) slots_are_gone(node, name, "they are of another slice");
  return {variable->slots_of, slice, cut_slots(variable->state.slots, slice)};
}

StateResult read_slot_slices(ShardState& shard, StateCall& call) {
  const SlicedVariables sliced = sliced_variables(*call.node);
  const auto step = call.inputs[0].scalar<std::int64_t>();
  std::vector<CopiedState> states;
  for (std::size_t i = 0; i < sliced.variables.size(); ++i) {
    const std::string& name = sliced.variables[i];
    states.push_back(encoded(slots_after(*call.node, shard.find(name), name,
                                         slice_of(sliced, i, rank_of(*call.node)), step)));
  }
  return Outputs{encode_states(states)};
}

// The slots of a rank's slices. None for a variable of whose slots this task has only a slice: they
// start anew on all ranks.
Tensor slots_for_rank(ShardState& shard, const SlicedVariables& sliced, int rank) {
  std::vector<CopiedState> states;
  for (std::size_t i = 0; i < sliced.variables.size(); ++i) {
    const ShardVariable& variable = shard.initialized(sliced.variables[i]);
    const SlotSlice slice = slice_of(sliced, i, rank);
    SentSlots sent{.slots_of = {}, .slice = slice, .slots = {}};
    if (slice.count > 0 && !variable.slots_of.empty() && !variable.slice)
      sent = {variable.slots_of, slice, cut_slots(variable.state.slots, slice)};
    states.push_back(encoded(std::move(sent)));
  }
  return encode_states(states);
}

StateResult divide_slots(ShardState& shard, StateCall& call) {
  const SlicedVariables sliced = sliced_variables(*call.node);
  std::vector<Tensor> parts;
  std::vector<std::int64_t> sizes;
  std::int64_t all = 0;
  for (int rank = 0; rank < sliced.ranks; ++rank) {
    parts.push_back(slots_for_rank(shard, sliced, rank));
    sizes.push_back(parts.back().elements());
    all += sizes.back();
  }
  Tensor bytes = Tensor::allocate(DType::uint8, {all});
  std::int64_t first = 0;
  for (const Tensor& part : parts) {
    copy_elements(bytes, first, part, 0, part.elements());
    first += part.elements();
  }
  return Outputs{std::move(bytes), Tensor::of<std::int64_t>({sliced.ranks}, sizes)};
}

StateResult assign_slot_slices(ShardState& shard, StateCall& call) {
  const SlicedVariables sliced = sliced_variables(*call.node);
  const int rank = rank_of(*call.node);
  const auto step = call.inputs[1].scalar<std::int64_t>();
  std::vector<SentSlots> all;
  for (CopiedState& state : decode_states(call.inputs[0], sliced.variables.size()))
    all.push_back(decoded(std::move(state)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    expect_variable(*call.node, shard.initialized(sliced.variables[i]), sliced.variables[i],
                    sliced.elements(i));
    if (all[i].slice != slice_of(sliced, i, rank))
      throw Error(Code::data_loss,
                  fmt::format("node '{}' ({}): slots of another slice of '{}'", call.node->name,
                              call.node->op->name, sliced.variables[i]));
    check_slots(all[i], *shard.task->optimizers, shard.initialized(sliced.variables[i]).state.value);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    ShardVariable& variable = shard.initialized(sliced.variables[i]);
    variable.state.slots = std::move(all[i].slots);
    variable.slots_of = std::move(all[i].slots_of);
    variable.slice = all[i].slice;
    variable.slots_step = step;
  }
  return Outputs{};
}

StateResult has_whole_slots(ShardState& shard, StateCall& call) {
  const auto names = attr<Tensor>(*call.node, "variables").values<std::string>();
  const bool whole = std::ranges::all_of(names, [&](const std::string& name) {
    const ShardVariable* variable = shard.find(name);
    return !variable || !variable->slice || variable->state.slots.empty();
  });
  return Outputs{Tensor::scalar<bool>(whole)};
}

}  // namespace

std::span<const StateOp> sliced_slots_handlers() {
  static const std::array all = {
      StateOp{&read_slot_slices_op(), read_slot_slices, Effect::reads},
      StateOp{&divide_slots_op(), divide_slots, Effect::reads},
      StateOp{&assign_slot_slices_op(), assign_slot_slices},
      StateOp{&has_whole_slots_op(), has_whole_slots, Effect::reads},
  };
  return all;
}

WholeSlots whole_slots(const ShardState& shard, const std::string& name, const ShardVariable& variable,
                       std::vector<SentSlots> others) {
  if (!variable.slice) return {variable.slots_of, variable.state.slots};
  for (const SentSlots& sent : others) check_slots(sent, *shard.task->optimizers, variable.state.value);
  SentSlots own{variable.slots_of, *variable.slice, {}};
  for (const Tensor& slot : variable.state.slots) own.slots.push_back(on_device(slot, cpu_device()));
  others.push_back(std::move(own));
  return put_together(name, variable.state.value, others);
}

}  // namespace actorflow

// Training by replicas that each have all variables: updates by what all have reduced, and copies of the
// whole state.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "actors/core/executable.h"
#include "actors/shard/state.h"
#include "actors/shard/state_copy.h"
#include "dataflow/ops/replicated_ops.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

const BoundOptimizer& optimizer_of(const StateCall& call) {
  return call.executable->optimizer(call.reply_to.node);
}

StateResult apply_reduced(ShardState& shard, StateCall& call, const BadElements& bad) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const auto gradient = counted_gradient(*call.node, variable, call.inputs[0], bad);
  const Tensor rate = call.inputs.size() > 1 ? call.inputs[1] : Tensor();
  if (gradient) update_variable(shard, optimizer_of(call), variable, {&*gradient, 1}, rate);
  return Outputs{};
}

// A copy of some rows.
Tensor rows_of(const Tensor& all, std::int64_t first, std::int64_t count) {
  Shape shape = all.shape();
  const std::size_t row = shape[0] == 0 ? 0 : all.size_bytes() / static_cast<std::size_t>(shape[0]);
  shape.set(0, count);
  Tensor rows = Tensor::allocate(all.dtype(), shape);
  if (rows.size_bytes() > 0)
    std::memcpy(rows.mutable_data(),
                static_cast<const std::byte*>(all.data()) + row * static_cast<std::size_t>(first),
                rows.size_bytes());
  return rows;
}

// Throws invalid_argument unless the counts are those of the rows.
void check_counts(const Node& node, const Tensor& values, std::span<const std::int64_t> counts) {
  std::int64_t sum = 0;
  bool positive = true;
  for (const auto count : counts) {
    positive &= count >= 0 && count <= values.shape()[0];
    sum += count;
  }
  if (!positive || sum != values.shape()[0])
    throw invalid_argument(fmt::format("node '{}' ({}): the rows of the ranks are not those of {}",
                                       node.name, node.op->name, values.describe()));
}

// The gathered (values, indices, rows) parts, cut by rank: each rank's values and indices by turns.
std::vector<Outputs> by_rank(const Node& node, std::span<const Tensor> parts) {
  std::vector<Outputs> ranks(static_cast<std::size_t>(parts[2].elements()));
  for (std::size_t part = 0; part < parts.size(); part += 3) {
    const auto counts = parts[part + 2].values<std::int64_t>();
    check_counts(node, parts[part], counts);
    std::int64_t first = 0;
    for (std::size_t rank = 0; rank < ranks.size(); first += counts[rank++])
      for (const std::size_t of : {part, part + 1})
        ranks[rank].push_back(rows_of(parts[of], first, counts[rank]));
  }
  return ranks;
}

StateResult apply_gathered(ShardState& shard, StateCall& call) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const bool has_rate = call.inputs.size() % 3 != 0;
  const auto parts = std::span(call.inputs).first(call.inputs.size() - (has_rate ? 1 : 0));
  std::vector<Gradient> gradients;
  for (const Outputs& rank : by_rank(*call.node, parts))
    if (auto gradient = sparse_gradient(shard, *call.node, variable, rank))
      gradients.push_back(std::move(*gradient));
  update_variable(shard, optimizer_of(call), variable, gradients,
                  has_rate ? call.inputs.back() : Tensor());
  return Outputs{};
}

std::span<const std::string> names_of(const Node& node) {
  return attr<Tensor>(node, "variables").values<std::string>();
}

// For each variable the slices of its slots that the inputs are of.
std::vector<std::vector<SentSlots>> sent_slots(const StateCall& call, std::size_t variables) {
  std::vector<std::vector<SentSlots>> sent(variables);
  for (const Tensor& input : call.inputs) {
    auto states = decode_states(input, variables);
    for (std::size_t i = 0; i < variables; ++i) sent[i].push_back(decoded(std::move(states[i])));
  }
  return sent;
}

StateResult read_state(ShardState& shard, StateCall& call) {
  const auto values_only = attr<Tensor>(*call.node, "values_only").values<std::string>();
  const auto names = names_of(*call.node);
  auto others = sent_slots(call, names.size());
  std::vector<CopiedState> states;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ShardVariable& variable = shard.initialized(names[i]);
    CopiedState& state = states.emplace_back();
    state.tensors.push_back(on_device(variable.state.value, cpu_device()));
    if (std::ranges::find(values_only, names[i]) != values_only.end()) continue;
    WholeSlots whole = whole_slots(shard, names[i], variable, std::move(others[i]));
    state.slots_of = std::move(whole.slots_of);
    for (const Tensor& slot : whole.slots) state.tensors.push_back(on_device(slot, cpu_device()));
  }
  return Outputs{encode_states(states)};
}

// Empties the accumulators, as restoring does: their gradients belong to the values that are replaced.
StateResult assign_state(ShardState& shard, StateCall& call) {
  const auto names = names_of(*call.node);
  auto states = decode_states(call.inputs[0], names.size());
  std::map<std::string, ShardVariable, std::less<>> made;
  for (std::size_t i = 0; i < names.size(); ++i) {
    ShardVariable& variable = made[names[i]];
    auto& tensors = states[i].tensors;
    variable.slots_of = std::move(states[i].slots_of);
    variable.state.value = std::move(tensors[0]);
    variable.state.slots.assign(std::make_move_iterator(tensors.begin() + 1),
                                std::make_move_iterator(tensors.end()));
    if (const ShardVariable* known = shard.find(names[i]))
      check_same_type(*call.node, known->state.value, variable.state.value);
  }
  for (auto& [name, variable] : made) shard.variables.insert_or_assign(name, std::move(variable));
  return Outputs{};
}

StateResult read_change(ShardState& shard, StateCall& call) {
  const ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const Tensor& since = shard.initialized(attr<std::string>(*call.node, "since")).state.value;
  check_same_type(*call.node, variable.state.value, since);
  Device& device = device_of(variable);
  return Outputs{computed(shard, device, "Sub", call.node->name, {},
                          {on_device(since, device), variable.state.value})};
}

StateResult take_value(ShardState& shard, StateCall& call) {
  const Tensor from = shard.initialized(attr<std::string>(*call.node, "from")).state.value;
  ShardVariable& variable = shard.variables[variable_of(*call.node)];
  if (variable.state.value.valid()) check_same_type(*call.node, variable.state.value, from);
  variable.state.value = on_device(from, device_of(variable));
  if (attr<bool>(*call.node, "forget_slots")) {
    variable.slots_of.clear();
    variable.state.slots.clear();
  }
  return Outputs{};
}

}  // namespace

std::span<const StateOp> replicated_handlers() {
  static const std::array all = {
      gradient_handler<apply_reduced, is_first>(apply_reduced_gradient_op()),
      StateOp{&apply_gathered_gradient_op(), apply_gathered},
      StateOp{&read_state_op(), read_state, Effect::reads},
      StateOp{&assign_state_op(), assign_state},
      StateOp{&read_change_op(), read_change, Effect::reads},
      StateOp{&take_value_op(), take_value},
  };
  return all;
}

}  // namespace actorflow

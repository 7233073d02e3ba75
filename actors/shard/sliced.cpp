// A sharded optimizer: this replica has the slots of its slices, and updates those for all replicas.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "actors/core/executable.h"
#include "actors/shard/node_slices.h"
#include "actors/shard/state.h"
#include "dataflow/ops/sliced_ops.h"
#include "kernels/devices/on_device.h"
#include "kernels/update/finite.h"
#include "kernels/update/optimizer_update.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

void expect_elements(const Node& node, const Tensor& tensor, std::int64_t elements) {
  if (tensor.elements() != elements)
    throw invalid_argument(fmt::format("node '{}' ({}): expected {} elements, got {}", node.name,
                                       node.op->name, elements, tensor.describe()));
}

StateResult cut_slices(ShardState&, StateCall& call) {
  const SlicedVariables sliced = sliced_variables(*call.node);
  const int rank = rank_of(*call.node);
  Tensor all = Tensor::allocate(call.inputs[0].dtype(), {sliced.elements_of_rank(rank)});
  std::int64_t first = 0;
  for (std::size_t i = 0; i < sliced.variables.size(); ++i) {
    expect_elements(*call.node, call.inputs[i], sliced.elements(i));
    const SlotSlice slice = slice_of(sliced, i, rank);
    copy_elements(all, first, call.inputs[i], slice.first, slice.count);
    first += slice.count;
  }
  return Outputs{std::move(all)};
}

StateResult count_not_finite(ShardState& shard, StateCall& call) {
  const SlicedVariables sliced = sliced_variables(*call.node);
  const int rank = rank_of(*call.node);
  expect_elements(*call.node, call.inputs[0], sliced.elements_of_rank(rank));
  std::vector<std::int64_t> counts;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < sliced.variables.size(); ++i) {
    const SlotSlice part{first, sliced.count(i, rank)};
    counts.push_back(part.count == 0 ? 0
                                     : actorflow::count_not_finite(elements_of(call.inputs[0], part),
                                                                   cpu_device(), shard.task->team));
    first += part.count;
  }
  return Outputs{Tensor::of<std::int64_t>({std::ssize(counts)}, counts)};
}

// Throws aborted unless the slots are of this step: a repeated update would change them twice.
void expect_step(const Node& node, const ShardVariable& variable, const std::string& name,
                 std::int64_t step) {
  if (variable.slots_step == -1 || variable.slots_step == step) return;
  throw Error(Code::aborted,
              fmt::format("node '{}' ({}): the slots of '{}' are as after step {}, and not {}: a step "
                          "has failed, so that all begin anew from a checkpoint",
                          node.name, node.op->name, name, variable.slots_step, step));
}

// Reduces the variable's slots to those of the slice. Makes new slots if it has none of this optimizer.
void keep_slice(const BoundOptimizer& optimizer, ShardVariable& variable, const SlotSlice& slice) {
  std::vector<Tensor> slots;
  const bool known = variable.slots_of == optimizer.optimizer.name();
  if (known && variable.slice == slice) return;
  if (known && !variable.slice) {
    slots = cut_slots(variable.state.slots, slice);
  } else {
    VariableState made{elements_of(on_device(variable.state.value, cpu_device()), slice), {}};
    make_slots(optimizer, made, cpu_device());
    slots = std::move(made.slots);
  }
  std::string name = optimizer.optimizer.name();
  variable.state.slots = std::move(slots);
  variable.slots_of = std::move(name);
  variable.slice = slice;
}

// The slots are updated in place: nobody else has them. A whole variable keeps its shape, which matters
// to some optimizers.
Tensor updated(const ShardState& shard, const BoundOptimizer& optimizer, ShardVariable& variable,
               const SlotSlice& slice, Tensor gradient) {
  VariableState part{elements_of(on_device(variable.state.value, cpu_device()), slice), {}};
  const Shape shape =
      slice.count == variable.state.value.elements() ? variable.state.value.shape() : part.value.shape();
  part.value = part.value.reshaped(shape);
  gradient = gradient.reshaped(shape);
  for (Tensor& slot : variable.state.slots) {
    slot = on_device(std::move(slot), cpu_device());
    if (!is_count_of_updates(slot)) slot = slot.reshaped(shape);
  }
  part.slots = std::move(variable.state.slots);
  try {
    apply_mean(optimizer, part, {&gradient, 1}, *shard.task->sending_device, shard.task->team);
  } catch (...) {
    variable.state.slots = std::move(part.slots);
    throw;
  }
  variable.state.slots = std::move(part.slots);
  return part.value;
}

// The work of one UpdateSlices node, on the slices of its variables.
class Update {
 public:
  Update(ShardState& shard, StateCall& call)
      : shard_(shard),
        node_(*call.node),
        sliced_(sliced_variables(node_)),
        rank_(rank_of(node_)),
        gradients_(call.inputs[0]),
        step_(call.inputs[2].scalar<std::int64_t>()),
        optimizer_(with_rate(call.executable->optimizer(call.reply_to.node),
                             call.inputs.size() > 3 ? call.inputs[3] : Tensor())) {
    check(call.inputs[1]);
  }

  Outputs run() {
    const std::int64_t all = sliced_.elements_of_rank(rank_);
    Tensor values;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < sliced_.variables.size(); ++i) {
      const SlotSlice slice = slice_of(sliced_, i, rank_);
      if (slice.count == 0) continue;
      Tensor part = new_values(*variables_[i], slice, {first, slice.count}, applies_[i]);
      if (slice.count == all) return {part.reshaped({all})};
      if (!values.valid()) values = allocate(all);
      copy_elements(values, first, part, 0, slice.count);
      first += slice.count;
    }
    return {values.valid() ? std::move(values) : allocate(all)};
  }

 private:
  // Throws what can go wrong, before anything changes.
  void check(const Tensor& not_finite) {
    expect_elements(node_, gradients_, sliced_.elements_of_rank(rank_));
    expect_elements(node_, not_finite, std::ssize(sliced_.variables));
    for (std::size_t i = 0; i < sliced_.variables.size(); ++i) {
      const std::string& name = sliced_.variables[i];
      ShardVariable& variable = shard_.initialized(name);
      expect_variable(node_, variable, name, sliced_.elements(i));
      if (sliced_.count(i, rank_) > 0) expect_step(node_, variable, name, step_);
      variables_.push_back(&variable);
    }
    for (std::size_t i = 0; i < sliced_.variables.size(); ++i)
      applies_.push_back(may_apply(node_, *variables_[i], sliced_.variables[i],
                                   not_finite.values<std::int64_t>()[i], sliced_.elements(i)));
  }

  Tensor allocate(std::int64_t elements) const {
    return Tensor::allocate(gradients_.dtype(), {elements}, shard_.task->sending_device->allocator());
  }

  Tensor new_values(ShardVariable& variable, const SlotSlice& slice, const SlotSlice& in_gradients,
                    bool applies) {
    keep_slice(optimizer_, variable, slice);
    Tensor values =
        applies ? updated(shard_, optimizer_, variable, slice, elements_of(gradients_, in_gradients))
                : elements_of(on_device(variable.state.value, cpu_device()), slice);
    variable.slots_step = step_ + 1;
    return values;
  }

  ShardState& shard_;
  const Node& node_;
  const SlicedVariables sliced_;
  const int rank_;
  const Tensor& gradients_;
  const std::int64_t step_;
  const BoundOptimizer optimizer_;
  std::vector<ShardVariable*> variables_;
  std::vector<bool> applies_;
};

StateResult update_slices(ShardState& shard, StateCall& call) { return Update(shard, call).run(); }

// Tensors on the host for new values of the variables: their own where nobody else holds them, and
// nothing can fail afterwards.
std::vector<Tensor> take_values(ShardState& shard, const SlicedVariables& sliced) {
  std::vector<Tensor> values;
  const bool stay = std::ranges::none_of(
      sliced.variables, [&](const std::string& name) { return shard.initialized(name).gpu; });
  for (const std::string& name : sliced.variables) {
    const Tensor& value = shard.initialized(name).state.value;
    const bool own = stay && value.exclusive() && value.on_host();
    values.push_back(own ? Tensor() : Tensor::allocate(value.dtype(), value.shape()));
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].valid()) values[i] = std::move(shard.find(sliced.variables[i])->state.value);
  return values;
}

StateResult assign_slices(ShardState& shard, StateCall& call) {
  const SlicedVariables sliced = sliced_variables(*call.node);
  const Tensor& all = call.inputs[0];
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < sliced.variables.size(); ++i) {
    expect_variable(*call.node, shard.initialized(sliced.variables[i]), sliced.variables[i],
                    sliced.elements(i));
    elements += sliced.elements(i);
  }
  expect_elements(*call.node, all, elements);
  std::vector<Tensor> values = take_values(shard, sliced);
  std::int64_t first = 0;
  for (int rank = 0; rank < sliced.ranks; ++rank)
    for (std::size_t i = 0; i < values.size(); ++i) {
      const SlotSlice slice = slice_of(sliced, i, rank);
      copy_elements(values[i], slice.first, all, first, slice.count);
      first += slice.count;
    }
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = on_device(std::move(values[i]), device_of(*shard.find(sliced.variables[i])));
  for (std::size_t i = 0; i < values.size(); ++i)
    shard.find(sliced.variables[i])->state.value = std::move(values[i]);
  return Outputs{};
}

}  // namespace

void expect_variable(const Node& node, const ShardVariable& variable, const std::string& name,
                     std::int64_t elements) {
  if (variable.state.value.elements() != elements)
    throw invalid_argument(
        fmt::format("node '{}' ({}): variable '{}' is {}, but its slices have {} "
                    "elements",
                    node.name, node.op->name, name, variable.state.value.describe(), elements));
}

std::span<const StateOp> sliced_handlers() {
  static const std::array all = {
      StateOp{&cut_slices_op(), cut_slices, Effect::reads},
      StateOp{&count_not_finite_slices_op(), count_not_finite, Effect::reads},
      StateOp{&update_slices_op(), update_slices},
      StateOp{&assign_slices_op(), assign_slices},
  };
  return all;
}

}  // namespace actorflow

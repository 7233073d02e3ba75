// Asynchronous training: each gradient is applied as it comes.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <bit>
#include <string_view>

#include "actors/core/executable.h"
#include "actors/shard/state.h"
#include "dataflow/ops/training_ops.h"
#include "kernels/devices/on_device.h"
#include "kernels/update/finite.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

double scalar_value(const Tensor& tensor) {
  return tensor.dtype() == DType::float32 ? static_cast<double>(tensor.scalar<float>())
                                          : tensor.scalar<double>();
}

AppliedUpdates::Key key_of(const Node& node) {
  return {attr<std::string>(node, "train_op"), attr<std::int64_t>(node, "replica")};
}

// Of ApplySparseGradient: values and indices by turns stand between the serial and perhaps a rate.
std::size_t sparse_tensors(std::size_t inputs) { return (inputs - 1) / 2 * 2; }
bool is_of_sparse_gradient(std::size_t input, std::size_t inputs) {
  return input >= 1 && input <= sparse_tensors(inputs);
}

// Appends a tensor of a gradient of this variable: one with values, or with the numbers of rows.
void add_suspect(const Tensor& tensor, bool has_rows, const ShardVariable& variable,
                 std::vector<Suspect>& suspects) {
  Suspect& suspect = suspects.emplace_back(Suspect{tensor, std::nullopt});
  const Shape& shape = variable.state.value.shape();
  if (has_rows) suspect.rows = shape.rank() > 0 ? shape[0] : 0;
}

// Of the tensors of a gradient, values and indices by turns.
BadElements bad_of(std::span<const std::int64_t> counts) {
  BadElements bad;
  for (std::size_t i = 0; i < counts.size(); ++i)
    (i % 2 == 0 ? bad.not_finite : bad.out_of_range) += counts[i];
  return bad;
}

// Applies a gradient that has not been applied before.
StateResult apply(ShardState& shard, StateCall& call, ShardVariable& variable, const Tensor& serial,
                  const std::optional<Gradient>& gradient, const Tensor& learning_rate) {
  auto& applied = applied_of(*call.node, variable);
  const auto number = serial.scalar<std::int64_t>();
  if (!applied.admit(number)) return Outputs{};
  if (gradient)
    update_variable(shard, call.executable->optimizer(call.reply_to.node), variable, {&*gradient, 1},
                    learning_rate);
  applied.made(number, gradient.has_value());
  return Outputs{};
}

// Inputs: gradient, serial and perhaps a learning rate.
StateResult apply_gradient(ShardState& shard, StateCall& call, const BadElements& bad) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const auto& inputs = call.inputs;
  return apply(shard, call, variable, inputs[1], counted_gradient(*call.node, variable, inputs[0], bad),
               inputs.size() > 2 ? inputs[2] : Tensor());
}

// Throws, naming node and variable, unless the gradient fits the variable.
void check_rows(const Node& node, const ShardVariable& variable, const SparseGradient& gradient,
                const BadElements& bad) try {
  const TensorType type{variable.state.value.dtype(), variable.state.value.shape()};
  if (bad.out_of_range == 0) return check_sparse_types(type, gradient);
  check_sparse_gradient(type, gradient, device_of(variable));  // which index it is
} catch (const Error& error) {
  throw Error(error.code(),
              fmt::format("node '{}' ({}): gradient of variable '{}', {}: {}", node.name, node.op->name,
                          variable_of(node), variable.state.value.describe(), error.what()));
}

// The gradient of (values, indices, values, indices, ...); none if the node skips it.
std::optional<Gradient> counted_rows(const Node& node, ShardVariable& variable,
                                     std::span<const Tensor> inputs, const BadElements& bad) {
  SparseGradient gradient;
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < inputs.size(); i += 2) {
    gradient.push_back({inputs[i], inputs[i + 1]});
    elements += inputs[i].elements();
  }
  check_rows(node, variable, gradient, bad);
  if (!may_apply(node, variable, variable_of(node), bad.not_finite, elements)) return std::nullopt;
  for (auto& rows : gradient) rows.values = on_device(std::move(rows.values), device_of(variable));
  return gradient;
}

// Inputs: serial, values and indices by turns, and perhaps a learning rate.
StateResult apply_sparse_gradient(ShardState& shard, StateCall& call, const BadElements& bad) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const std::span<const Tensor> inputs(call.inputs);
  const std::size_t tensors = sparse_tensors(inputs.size());
  return apply(shard, call, variable, inputs[0],
               counted_rows(*call.node, variable, inputs.subspan(1, tensors), bad),
               inputs.size() > tensors + 1 ? inputs.back() : Tensor());
}

StateResult count_step(ShardState& shard, StateCall& call) {
  const std::string& name = variable_of(*call.node);
  ShardVariable& variable = shard.initialized(name);
  Tensor& value = variable.state.value;
  auto& applied = applied_of(*call.node, variable);
  const auto serial = call.inputs[1].scalar<std::int64_t>();
  if (!applied.admit(serial)) return Outputs{value};
  const auto before = value.scalar<std::int64_t>(), seen = call.inputs[0].scalar<std::int64_t>();
  Staleness& staleness = shard.staleness[name];
  Outputs after{Tensor::scalar<std::int64_t>(before + 1)};
  staleness.record(before - seen);
  value = after[0];
  applied.made(serial);
  return after;
}

// Serials begin with the epoch, so that those of a new chief are later than any that variables remember.
StateResult next_serial(ShardState& shard, StateCall& call) {
  const auto first = static_cast<std::int64_t>(shard.epoch) << 32;
  auto& applied = shard.initialized(variable_of(*call.node)).applied;
  return Outputs{Tensor::scalar<std::int64_t>(applied.next(key_of(*call.node), first))};
}

StateResult staleness(ShardState& shard, StateCall& call) {
  const auto found = shard.staleness.find(variable_of(*call.node));
  const Staleness seen = found == shard.staleness.end() ? Staleness{} : found->second;
  return Outputs{
      Tensor::of<double>({3},
                         {static_cast<double>(seen.steps), seen.mean(), static_cast<double>(seen.max)}),
      Tensor::of<std::int64_t>({staleness_buckets}, {seen.histogram.begin(), seen.histogram.end()})};
}

// Gives the variable the optimizer's initial slots, and returns the slots that it had.
std::vector<Tensor> new_slots(const BoundOptimizer& optimizer, ShardVariable& variable) {
  VariableState made{variable.state.value, {}};
  make_slots(optimizer, made, device_of(variable));
  return std::exchange(variable.state.slots, std::move(made.slots));
}

std::size_t bytes_of(const ShardVariable& variable) {
  std::size_t bytes = variable.state.value.size_bytes();
  for (const Tensor& slot : variable.state.slots) bytes += slot.size_bytes();
  return bytes;
}

// How many bytes the variables take, for the error of an update that finds no memory.
std::string holdings(const ShardState& shard) {
  std::size_t bytes = 0, most = 0;
  std::string_view largest;
  for (const auto& [name, variable] : shard.variables) {
    const std::size_t size = bytes_of(variable);
    bytes += size;
    if (size < most) continue;
    most = size;
    largest = name;
  }
  return fmt::format("the variables of {} hold {} bytes, '{}' with its slots {} of them",
                     shard.task->self.name.to_string(), bytes, largest, most);
}

}  // namespace

// Warnings become ever rarer, since a model that has diverged gives one in each step.
bool may_apply(const Node& node, ShardVariable& variable, const std::string& name, std::int64_t bad,
               std::int64_t elements) {
  if (bad == 0) return true;
  const std::string what =
      fmt::format("node '{}' ({}): {} of {} elements of a gradient of variable '{}' are not finite",
                  node.name, node.op->name, bad, elements, name);
  if (!attr<bool>(node, "skip_not_finite"))
    throw Error(Code::not_finite,
                what +
                    "; it was not applied: lower the learning rate, clip the gradients, or "
                    "let training skip such gradients or roll back");
  if (const auto times = ++variable.left_out; std::has_single_bit(times))
    spdlog::warn("{}; it was left out; {} of this variable so far, the next warning comes at {}", what,
                 times, 2 * times);
  return false;
}

BoundOptimizer with_rate(const BoundOptimizer& optimizer, const Tensor& learning_rate) {
  BoundOptimizer with = optimizer;
  if (learning_rate.valid())
    with.optimizer = with_learning_rate(optimizer.optimizer, scalar_value(learning_rate));
  return with;
}

AppliedUpdates::Replica& applied_of(const Node& node, ShardVariable& variable) {
  return variable.applied.of(key_of(node));
}

std::vector<BadElements> bad_elements(ShardState& shard, std::span<const GradientCall> calls,
                                      Device& device) {
  std::vector<Suspect> suspects;
  std::vector<std::size_t> ends;  // of each call's
  for (const auto& [call, is_of_gradient] : calls) {
    const ShardVariable& variable = shard.initialized(variable_of(*call->node));
    const std::size_t first = suspects.size();
    for (std::size_t i = 0; i < call->inputs.size(); ++i)
      if (is_of_gradient(i, call->inputs.size()))
        add_suspect(call->inputs[i], (suspects.size() - first) % 2 != 0, variable, suspects);
    ends.push_back(suspects.size());
  }
  const auto counts = count_bad(suspects, device, shard.task->team);
  std::vector<BadElements> bad;
  std::size_t first = 0;
  for (const std::size_t end : ends) {
    bad.push_back(bad_of(std::span(counts).subspan(first, end - first)));
    first = end;
  }
  return bad;
}

std::optional<Gradient> counted_gradient(const Node& node, ShardVariable& variable, Tensor input,
                                         const BadElements& bad) {
  check_same_type(node, variable.state.value, input);
  if (!may_apply(node, variable, variable_of(node), bad.not_finite, input.elements())) return std::nullopt;
  return input;
}

std::optional<Gradient> sparse_gradient(const ShardState& shard, const Node& node,
                                        ShardVariable& variable, std::span<const Tensor> inputs) {
  std::vector<Suspect> suspects;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    add_suspect(inputs[i], i % 2 != 0, variable, suspects);
  return counted_rows(node, variable, inputs,
                      bad_of(count_bad(suspects, cpu_device(), shard.task->team)));
}

void update_variable(const ShardState& shard, const BoundOptimizer& optimizer, ShardVariable& variable,
                     std::span<const Gradient> gradients, const Tensor& learning_rate) try {
  if (gradients.empty()) return;  // no gradient was finite
  const auto apply = [&] {
    apply_mean(with_rate(optimizer, learning_rate), variable.state, gradients,
               variable.gpu ? *variable.gpu : *shard.task->sending_device, shard.task->team);
  };
  if (variable.slots_of == optimizer.optimizer.name()) return apply();
  std::string name = optimizer.optimizer.name();
  auto before = new_slots(optimizer, variable);
  try {
    apply();
  } catch (...) {
    variable.state.slots = std::move(before);
    throw;
  }
  variable.slots_of = std::move(name);
} catch (const Error& error) {
  if (error.code() != Code::resource_exhausted) throw;
  throw Error(error.code(), fmt::format("{}; {}", error.what(), holdings(shard)));
}

std::span<const StateOp> update_handlers() {
  static const std::array all = {
      gradient_handler<apply_gradient, is_first>(apply_gradient_op()),
      gradient_handler<apply_sparse_gradient, is_of_sparse_gradient>(apply_sparse_gradient_op()),
      StateOp{&count_step_op(), count_step},
      StateOp{&next_serial_op(), next_serial},
      StateOp{&staleness_op(), staleness, Effect::reads},
  };
  return all;
}

}  // namespace actorflow

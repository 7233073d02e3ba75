// Conditional accumulators. Follows TensorFlow 1.x's ConditionalAccumulatorBase.
#include "actors/shard/conditional.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <utility>

#include "actors/shard/state.h"
#include "dataflow/conditional_accumulator.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

// The accumulator of a node, made if it is the first to name it.
ConditionalState& accumulator_of(ShardState& shard, const Node& node) {
  const TensorType type{attr<DType>(node, "dtype"), attr<Shape>(node, "shape")};
  const bool mean = attr<std::string>(node, "reduction") == "mean";
  const auto [found, is_new] = shard.conditional.try_emplace(variable_of(node));
  ConditionalState& accumulator = found->second;
  if (is_new) {
    accumulator.type = type;
    accumulator.mean = mean;
  }
  const auto describe = [](const TensorType& of, bool as_mean) {
    return fmt::format("{} by {}", of.to_string(), as_mean ? "mean" : "sum");
  };
  if (accumulator.type != type || accumulator.mean != mean)
    throw invalid_argument(fmt::format(
        "node '{}' ({}): accumulator '{}' is {}, but this node wants {}", node.name, node.op->name,
        variable_of(node), describe(accumulator.type, accumulator.mean), describe(type, mean)));
  return accumulator;
}

template <class T>
void divide(Tensor& tensor, std::int64_t divisor) {
  for (T& value : tensor.mutable_values<T>()) value /= static_cast<T>(divisor);
}

Tensor take(ConditionalState& accumulator) {
  Tensor result = std::move(accumulator.sum);
  accumulator.sum = {};
  if (accumulator.mean && accumulator.count > 1) {
    // A single gradient may still be somebody else's, a sum is ours.
    if (result.dtype() == DType::float32)
      divide<float>(result, accumulator.count);
    else
      divide<double>(result, accumulator.count);
  }
  accumulator.count = 0;
  ++accumulator.global_step;
  return result;
}

void serve_takers(ConditionalState& accumulator) {
  while (!accumulator.takers.empty() && accumulator.count >= accumulator.takers.front().required) {
    complete(accumulator.takers.front().reply_to, {take(accumulator)});
    accumulator.takers.pop_front();
  }
}

StateResult apply(ShardState& shard, StateCall& call) {
  const Node& node = *call.node;
  ConditionalState& accumulator = accumulator_of(shard, node);
  const Tensor& gradient = call.inputs[0];
  if (gradient.shape() != accumulator.type.shape)
    throw invalid_argument(fmt::format("node '{}' ({}): accumulator '{}' is {}, but got {}", node.name,
                                       node.op->name, variable_of(node), accumulator.type.to_string(),
                                       gradient.describe()));
  if (call.inputs[1].scalar<std::int64_t>() < accumulator.global_step)
    return Outputs{Tensor::scalar(false)};
  accumulator.sum = accumulator.count == 0 ? gradient : add_tensors(shard, {accumulator.sum, gradient});
  ++accumulator.count;
  serve_takers(accumulator);
  return Outputs{Tensor::scalar(true)};
}

StateResult take_when_there(ShardState& shard, StateCall& call) {
  ConditionalState& accumulator = accumulator_of(shard, *call.node);
  const auto required = call.inputs[0].scalar<std::int64_t>();
  if (required < 1)
    throw invalid_argument(fmt::format("node '{}' ({}): expected to take 1 or more gradients, got {}",
                                       call.node->name, call.node->op->name, required));
  accumulator.takers.push_back({call.reply_to, required, call.node->name});
  serve_takers(accumulator);
  return std::nullopt;
}

StateResult size(ShardState& shard, StateCall& call) {
  return Outputs{Tensor::scalar(accumulator_of(shard, *call.node).count)};
}

StateResult set_step(ShardState& shard, StateCall& call) {
  accumulator_of(shard, *call.node).global_step = call.inputs[0].scalar<std::int64_t>();
  return Outputs{};
}

}  // namespace

std::span<const StateOp> conditional_handlers() {
  static const std::array all = {
      StateOp{&accumulator_apply_op(), apply},
      StateOp{&accumulator_take_op(), take_when_there},
      StateOp{&accumulator_size_op(), size, Effect::reads},
      StateOp{&accumulator_set_step_op(), set_step},
  };
  return all;
}

void give_up_takers(ShardState& shard, StepId step) {
  for (auto& entry : shard.conditional)
    std::erase_if(entry.second.takers,
                  [step](const ConditionalState::Taker& taker) { return taker.reply_to.step == step; });
}

void forget_conditional(ShardState& shard, const Status& reason,
                        const std::function<bool(const std::string&)>& which) {
  std::erase_if(shard.conditional, [&](const auto& entry) {
    if (which && !which(entry.first)) return false;
    for (const auto& taker : entry.second.takers) fail(taker.reply_to, reason);
    return true;
  });
}

void report_waiting_takers(ShardState& shard) {
  for (auto& [name, accumulator] : shard.conditional)
    for (auto& taker : accumulator.takers) {
      if (taker.waited_a_tick)
        spdlog::warn("{}: node '{}' waits for {} gradients in accumulator '{}', which has {}",
                     shard.task->self.name.to_string(), taker.node, taker.required, name,
                     accumulator.count);
      taker.waited_a_tick = true;
    }
}

}  // namespace actorflow

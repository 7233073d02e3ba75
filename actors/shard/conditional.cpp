// Conditional accumulators. Follows TensorFlow 1.x's ConditionalAccumulatorBase.
#include "actors/shard/conditional.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <utility>

#include "actors/shard/state.h"
#include "dataflow/ops/conditional_accumulator.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

// The accumulator of a node, made if it is the first to name it.
ConditionalState& accumulator_of(ShardState& shard, const Node& node) {
  const auto kind = ConditionalState::Kind::of(node);
  const auto [found, is_new] = shard.conditional.try_emplace(variable_of(node));
  ConditionalState& accumulator = found->second;
  if (is_new) accumulator.kind = kind;
  if (accumulator.kind != kind)
    throw invalid_argument(fmt::format("node '{}' ({}): accumulator '{}' is {}, but this node wants {}",
                                       node.name, node.op->name, variable_of(node),
                                       accumulator.kind.to_string(), kind.to_string()));
  return accumulator;
}

template <class T>
void divide(Tensor& tensor, std::int64_t divisor) {
  for (T& value : tensor.mutable_values<T>()) value /= static_cast<T>(divisor);
}

void take_dense(ConditionalState& accumulator, Outputs& to) {
  to.resize(1);
  Tensor& result = to[0] = std::exchange(accumulator.sum, {});
  // Divided in place: a sum is ours, a single gradient may be somebody else's.
  if (!accumulator.kind.mean || accumulator.count == 1) return;
  if (result.dtype() == DType::float32)
    divide<float>(result, accumulator.count);
  else
    divide<double>(result, accumulator.count);
}

void take_sparse(ConditionalState& accumulator, Outputs& to) {
  to.resize(2);
  auto taken = accumulator.rows.take(accumulator.kind.type, accumulator.kind.mean);
  to[0] = std::move(taken.values);
  to[1] = std::move(taken.indices);
}

void serve_takers(ConditionalState& accumulator) {
  accumulator.takers.serve([&](const ConditionalState::Taker& taker) {
    if (accumulator.count < taker.required) return false;
    PreparedAnswer answer(taker.reply_to);
    Outputs outputs;
    (accumulator.kind.sparse ? take_sparse : take_dense)(accumulator, outputs);
    accumulator.count = 0;
    ++accumulator.global_step;
    answer.complete(std::move(outputs));
    return true;
  });
}

// Adds by `add` if the gradient is not stale. Its output says whether it counted.
template <class Add>
StateResult apply(ConditionalState& accumulator, const Tensor& local_step, Add&& add) {
  const bool counts = local_step.scalar<std::int64_t>() >= accumulator.global_step;
  Outputs outputs{Tensor::scalar(counts)};
  if (counts) {
    add();
    ++accumulator.count;
    serve_takers(accumulator);
  }
  return outputs;
}

StateResult apply_dense(ShardState& shard, StateCall& call) {
  const Node& node = *call.node;
  ConditionalState& accumulator = accumulator_of(shard, node);
  const Tensor& gradient = call.inputs[0];
  if (gradient.shape() != accumulator.kind.type.shape)
    throw invalid_argument(fmt::format("node '{}' ({}): accumulator '{}' is {}, but got {}", node.name,
                                       node.op->name, variable_of(node),
                                       accumulator.kind.type.to_string(), gradient.describe()));
  return apply(accumulator, call.inputs[1], [&] {
    Tensor& sum = accumulator.sum;
    sum = accumulator.count == 0 ? gradient : add_tensors(shard, cpu_device(), {sum, gradient});
  });
}

StateResult apply_sparse(ShardState& shard, StateCall& call) {
  const Node& node = *call.node;
  ConditionalState& accumulator = accumulator_of(shard, node);
  const GradientRows gradient{call.inputs[0], call.inputs[1]};
  try {
    check_sparse_gradient(accumulator.kind.type, {gradient}, cpu_device());
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("node '{}' ({}): accumulator '{}' is {}: {}", node.name, node.op->name,
                            variable_of(node), accumulator.kind.type.to_string(), error.what()));
  }
  return apply(accumulator, call.inputs[2], [&] { accumulator.rows.add(gradient); });
}

StateResult take_when_there(ShardState& shard, StateCall& call) {
  ConditionalState& accumulator = accumulator_of(shard, *call.node);
  const auto required = call.inputs[0].scalar<std::int64_t>();
  if (required < 1)
    throw invalid_argument(fmt::format("node '{}' ({}): expected to take 1 or more gradients, got {}",
                                       call.node->name, call.node->op->name, required));
  accumulator.takers.add({call.reply_to, required, call.node->name});
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

ConditionalState::Kind ConditionalState::Kind::of(const Node& node) {
  return {{attr<DType>(node, "dtype"), attr<Shape>(node, "shape")},
          attr<std::string>(node, "reduction") == "mean",
          attr<bool>(node, "sparse")};
}

std::string ConditionalState::Kind::to_string() const {
  return fmt::format("{}{} by {}", sparse ? "sparse " : "", type.to_string(), mean ? "mean" : "sum");
}

std::span<const StateOp> conditional_handlers() {
  static const std::array all = {
      StateOp{&accumulator_apply_op(), apply_dense},
      StateOp{&accumulator_take_op(), take_when_there},
      StateOp{&accumulator_apply_sparse_op(), apply_sparse},
      StateOp{&accumulator_take_sparse_op(), take_when_there},
      StateOp{&accumulator_size_op(), size, Effect::reads},
      StateOp{&accumulator_set_step_op(), set_step},
  };
  return all;
}

void give_up_takers(ShardState& shard, StepId step) {
  for (auto& entry : shard.conditional) entry.second.takers.give_up(step);
}

void forget_conditional(ShardState& shard, const Status& reason,
                        const std::function<bool(const std::string&)>& which) {
  for (auto entry = shard.conditional.begin(); entry != shard.conditional.end();) {
    if (which && !which(entry->first)) {
      ++entry;
      continue;
    }
    entry->second.takers.fail_all(reason);
    entry = shard.conditional.erase(entry);
  }
}

void report_waiting_takers(ShardState& shard) {
  for (auto& [name, accumulator] : shard.conditional) {
    if (!accumulator.takers.tick() || !accumulator.reports.is_due({}, shard.task->clock->now()))
      continue;
    const auto& first = *accumulator.takers.begin();
    spdlog::warn("{}: node '{}' waits for {} gradients in accumulator '{}', which has {}",
                 shard.task->self.name.to_string(), first.node, first.required, name, accumulator.count);
  }
}

}  // namespace actorflow

#include "dataflow/training_ops.h"

#include <algorithm>
#include <array>

#include "dataflow/op_attrs.h"
#include "dataflow/optimizer.h"

namespace actorflow {
namespace {

std::vector<AttrDef> update_attrs() {
  return {required_text("variable"), required_text("optimizer"),
          required("hyperparameters", std::vector<double>())};
}
std::vector<AttrDef> replica_attrs() {
  return {required_int("replica"), required_int("replicas_to_aggregate"),
          required_int("total_num_replicas")};
}

void infer_apply_gradient(InferContext& c) {
  expect_variable(c);
  if (!is_floating(c.input(0).dtype)) c.fail("a gradient of a floating type", c.input(0).to_string());
  try {
    parse_optimizer(c.attr<std::string>("optimizer"), c.attr<std::vector<double>>("hyperparameters"));
  } catch (const Error& error) {
    c.fail("an optimizer and its hyperparameters", std::string("an error: ") + error.what());
  }
}

void expect_replicas(const InferContext& c) {
  const auto replica = c.attr<std::int64_t>("replica");
  const auto total = c.attr<std::int64_t>("total_num_replicas");
  const auto wanted = c.attr<std::int64_t>("replicas_to_aggregate");
  if (total < 1 || replica < 0 || replica >= total)
    c.fail("a replica below total_num_replicas",
           "replica " + std::to_string(replica) + " of " + std::to_string(total));
  if (wanted < 1) c.fail("replicas_to_aggregate of 1 or more", std::to_string(wanted));
}

void infer_accumulate_gradient(InferContext& c) {
  infer_apply_gradient(c);
  expect_scalar(c, 1, DType::int64);
  expect_replicas(c);
  c.add_output(DType::boolean, {});
}

void infer_count_step(InferContext& c) {
  expect_variable(c);
  expect_scalar(c, 0, DType::int64);
  c.add_output(DType::int64, {});
}

void infer_staleness(InferContext& c) {
  expect_variable(c);
  c.add_output(DType::float64, {3});
}

// Each step puts max(total, aggregate) tokens into the queue but needs `aggregate` gradients: with fewer
// tokens to start with than the difference, no first step could ever be complete.
void infer_take_token(InferContext& c) {
  expect_variable(c);
  expect_replicas(c);
  const auto tokens = c.attr<std::int64_t>("initial_tokens");
  const auto needed =
      c.attr<std::int64_t>("replicas_to_aggregate") - c.attr<std::int64_t>("total_num_replicas");
  if (tokens < 0 || tokens < needed)
    c.fail("at least " + std::to_string(std::max<std::int64_t>(needed, 0)) +
               " initial_tokens (replicas_to_aggregate - total_num_replicas)",
           std::to_string(tokens));
  if (c.attr<std::int64_t>("accumulators") < 1)
    c.fail("1 or more accumulators", std::to_string(c.attr<std::int64_t>("accumulators")));
  c.add_output(DType::int64, {});
}

}  // namespace

const OpDef& apply_gradient_op() {
  static const OpDef op{.name = "ApplyGradient",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = update_attrs(),
                        .infer = infer_apply_gradient,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& accumulate_gradient_op() {
  static const OpDef op{.name = "AccumulateGradient",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = update_attrs() + replica_attrs() +
                                 std::vector{required_text("coordinator"), required_text("global_step")},
                        .infer = infer_accumulate_gradient,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& count_step_op() {
  static const OpDef op{.name = "CountStep",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs(),
                        .infer = infer_count_step,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& staleness_op() {
  static const OpDef op{.name = "Staleness",
                        .attrs = variable_attrs(),
                        .infer = infer_staleness,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& take_token_op() {
  static const OpDef op{
      .name = "TakeToken",
      .attrs = variable_attrs() + replica_attrs() +
               std::vector{required_int("accumulators"), required_int("initial_tokens")},
      .infer = infer_take_token,
      .home = Home::coordinator,
      .stateful = true};
  return op;
}

std::span<const OpDef* const> training_ops() {
  static const std::array all = {&apply_gradient_op(), &accumulate_gradient_op(), &count_step_op(),
                                 &staleness_op(), &take_token_op()};
  return all;
}

}  // namespace actorflow

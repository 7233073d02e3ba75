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

std::vector<AttrDef> accumulate_attrs() {
  return update_attrs() + replica_attrs() +
         std::vector{required_text("coordinator"), required_text("global_step")};
}

void expect_gradient(const InferContext& c, int input) {
  if (!is_floating(c.input(input).dtype))
    c.fail("a gradient of a floating type", c.input(input).to_string());
}

void expect_optimizer(const InferContext& c) {
  expect_variable(c);
  try {
    parse_optimizer(c.attr<std::string>("optimizer"), c.attr<std::vector<double>>("hyperparameters"));
  } catch (const Error& error) {
    c.fail("an optimizer and its hyperparameters", std::string("an error: ") + error.what());
  }
}

void expect_learning_rate(const InferContext& c, int input) {
  if (!is_floating(c.input(input).dtype))
    c.fail("a learning rate of a floating type", c.input(input).to_string());
  c.expect_rank(input, 0);
}

void expect_rows(const InferContext& c, int first) {
  expect_gradient(c, first);
  c.expect_dtype(first + 1, DType::int64);
  c.expect_rank(first + 1, 1);
  const Shape &values = c.input(first).shape, &indices = c.input(first + 1).shape;
  if (!values.has_rank()) return;
  if (values.rank() == 0) c.fail("rows of a gradient", c.input(first).to_string());
  if (values[0] != Shape::unknown && indices.has_rank() && indices[0] != Shape::unknown &&
      values[0] != indices[0])
    c.fail("an index for each row",
           c.input(first).to_string() + " and " + c.input(first + 1).to_string());
}

// The inputs from `first` on, an even number: values and indices by turns, and a learning rate behind
// them if one input is left over.
void expect_sparse_gradient(const InferContext& c, int first) {
  for (int i = first; i + 1 < c.inputs(); i += 2) expect_rows(c, i);
  if (c.inputs() % 2 != 0) expect_learning_rate(c, c.inputs() - 1);
}

void infer_apply_gradient(InferContext& c) {
  expect_optimizer(c);
  expect_gradient(c, 0);
  if (c.inputs() > 1) expect_learning_rate(c, 1);
}

void expect_replica(const InferContext& c) {
  const auto replica = c.attr<std::int64_t>("replica");
  const auto total = c.attr<std::int64_t>("total_num_replicas");
  if (total < 1 || replica < 0 || replica >= total)
    c.fail("a replica below total_num_replicas",
           "replica " + std::to_string(replica) + " of " + std::to_string(total));
}

void expect_replicas(const InferContext& c) {
  expect_replica(c);
  const auto wanted = c.attr<std::int64_t>("replicas_to_aggregate");
  if (wanted < 1) c.fail("replicas_to_aggregate of 1 or more", std::to_string(wanted));
}

void infer_accumulate_gradient(InferContext& c) {
  expect_optimizer(c);
  expect_gradient(c, 0);
  expect_scalar(c, 1, DType::int64);
  expect_scalar(c, 2, DType::int64);
  if (c.inputs() > 3) expect_learning_rate(c, 3);
  expect_replicas(c);
  c.add_output(DType::boolean, {});
}

void infer_accumulate_sparse_gradient(InferContext& c) {
  expect_optimizer(c);
  expect_scalar(c, 0, DType::int64);
  expect_scalar(c, 1, DType::int64);
  expect_sparse_gradient(c, 2);
  expect_replicas(c);
  c.add_output(DType::boolean, {});
}

void infer_gradient_counts(InferContext& c) {
  expect_variable(c);
  const auto total = c.attr<std::int64_t>("total_num_replicas");
  if (total < 1) c.fail("1 or more replicas", std::to_string(total));
  c.add_output(DType::int64, {total, 3});
}

void infer_read_at_step(InferContext& c) {
  expect_variable(c);
  expect_scalar(c, 0, DType::int64);
  infer_declared(c);
}

void infer_count_step(InferContext& c) {
  expect_variable(c);
  expect_scalar(c, 0, DType::int64);
  c.add_output(DType::int64, {});
}

void infer_staleness(InferContext& c) {
  expect_variable(c);
  c.add_output(DType::float64, {3});
  c.add_output(DType::int64, {staleness_buckets});
}

// Each step puts max(total, aggregate) tokens into the queue but needs `aggregate` gradients: with fewer
// tokens to start with than the difference, no first step could ever be complete.
void infer_take_token(InferContext& c) {
  expect_variable(c);
  expect_replicas(c);
  expect_scalar(c, 0, DType::int64);
  expect_scalar(c, 1, DType::int64);
  const auto tokens = c.attr<std::int64_t>("initial_tokens");
  const auto needed =
      c.attr<std::int64_t>("replicas_to_aggregate") - c.attr<std::int64_t>("total_num_replicas");
  if (tokens < 0 || tokens < needed)
    c.fail("at least " + std::to_string(std::max<std::int64_t>(needed, 0)) +
               " initial_tokens (replicas_to_aggregate - total_num_replicas)",
           std::to_string(tokens));
  if (c.attr<std::int64_t>("accumulators") < 1)
    c.fail("1 or more accumulators", std::to_string(c.attr<std::int64_t>("accumulators")));
  for (int i = 0; i < 2; ++i) c.add_output(DType::int64, {});
}

std::vector<AttrDef> clock_attrs() {
  return variable_attrs() + std::vector{required_int("replica"), required_int("total_num_replicas"),
                                        required_int("staleness_bound")};
}

void expect_clock(const InferContext& c) {
  expect_variable(c);
  expect_replica(c);
  const auto bound = c.attr<std::int64_t>("staleness_bound");
  if (bound < 0) c.fail("a staleness_bound of 0 or more", std::to_string(bound));
}

void infer_join_clocks(InferContext& c) {
  expect_clock(c);
  c.add_output(DType::int64, {});
}

void infer_advance_clock(InferContext& c) {
  expect_clock(c);
  expect_scalar(c, 0, DType::int64);
  c.add_output(DType::int64, {});
}

void infer_clock_statistics(InferContext& c) {
  expect_clock(c);
  c.add_output(DType::int64, {});
  c.add_output(DType::int64, {c.attr<std::int64_t>("total_num_replicas")});
}

}  // namespace

const OpDef& apply_gradient_op() {
  static const OpDef op{.name = "ApplyGradient",
                        .min_inputs = 1,
                        .max_inputs = 2,
                        .attrs = update_attrs(),
                        .infer = infer_apply_gradient,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& accumulate_gradient_op() {
  static const OpDef op{.name = "AccumulateGradient",
                        .min_inputs = 3,
                        .max_inputs = 4,
                        .attrs = accumulate_attrs(),
                        .infer = infer_accumulate_gradient,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& apply_sparse_gradient_op() {
  static const OpDef op{.name = "ApplySparseGradient",
                        .min_inputs = 2,
                        .max_inputs = OpDef::any_number,
                        .attrs = update_attrs(),
                        .infer =
                            [](InferContext& c) {
                              expect_optimizer(c);
                              expect_sparse_gradient(c, 0);
                            },
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& accumulate_sparse_gradient_op() {
  static const OpDef op{.name = "AccumulateSparseGradient",
                        .min_inputs = 4,
                        .max_inputs = OpDef::any_number,
                        .attrs = accumulate_attrs(),
                        .infer = infer_accumulate_sparse_gradient,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& gradient_counts_op() {
  static const OpDef op{.name = "GradientCounts",
                        .attrs = variable_attrs() + std::vector{required_int("total_num_replicas")},
                        .infer = infer_gradient_counts,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& read_at_step_op() {
  static const OpDef op{.name = "ReadAtStep",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs() + type_attrs(),
                        .infer = infer_read_at_step,
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
      .min_inputs = 2,
      .max_inputs = 2,
      .attrs = variable_attrs() + replica_attrs() +
               std::vector{required_int("accumulators"), required_int("initial_tokens")},
      .infer = infer_take_token,
      .home = Home::coordinator,
      .stateful = true};
  return op;
}

const OpDef& join_clocks_op() {
  static const OpDef op{.name = "JoinClocks",
                        .attrs = clock_attrs() + std::vector{required_text("task")},
                        .infer = infer_join_clocks,
                        .home = Home::coordinator,
                        .stateful = true};
  return op;
}

const OpDef& advance_clock_op() {
  static const OpDef op{.name = "AdvanceClock",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = clock_attrs(),
                        .infer = infer_advance_clock,
                        .home = Home::coordinator,
                        .stateful = true};
  return op;
}

const OpDef& leave_clocks_op() {
  static const OpDef op{.name = "LeaveClocks",
                        .attrs = clock_attrs(),
                        .infer = [](InferContext& c) { expect_clock(c); },
                        .home = Home::coordinator,
                        .stateful = true};
  return op;
}

const OpDef& clock_statistics_op() {
  static const OpDef op{.name = "ClockStatistics",
                        .attrs = clock_attrs(),
                        .infer = infer_clock_statistics,
                        .home = Home::coordinator,
                        .stateful = true};
  return op;
}

std::span<const OpDef* const> training_ops() {
  static const std::array all = {&apply_gradient_op(),
                                 &accumulate_gradient_op(),
                                 &apply_sparse_gradient_op(),
                                 &accumulate_sparse_gradient_op(),
                                 &gradient_counts_op(), &read_at_step_op(),
                                 &count_step_op(),
                                 &staleness_op(),
                                 &take_token_op(),
                                 &join_clocks_op(),
                                 &advance_clock_op(),
                                 &leave_clocks_op(),
                                 &clock_statistics_op()};
  return all;
}

}  // namespace actorflow

#include "dataflow/ops/training_ops.h"

#include <array>

#include "dataflow/graph/op_attrs.h"
#include "dataflow/ops/replica_attrs.h"
#include "dataflow/ops/update_attrs.h"

namespace actorflow {
namespace {

// The attributes that identify an asynchronous update, so that a repeated one is recognised.
std::vector<AttrDef> serial_attrs() { return {required_int("replica"), required_text("train_op")}; }
std::vector<AttrDef> accumulate_attrs() {
  return update_attrs() + replica_attrs() +
         std::vector{required_text("coordinator"), required_state("global_step")};
}

// The inputs from `first` on, an even number: values and indices by turns, and a learning rate behind
// them if one input is left over.
void expect_sparse_gradient(const InferContext& c, int first) {
  for (int i = first; i + 1 < c.inputs(); i += 2) expect_rows(c, i);
  if ((c.inputs() - first) % 2 != 0) expect_learning_rate(c, c.inputs() - 1);
}

void expect_replica_number(const InferContext& c) {
  const auto replica = c.attr<std::int64_t>("replica");
  if (replica < 0) c.fail("a replica, 0 or more", std::to_string(replica));
}

void infer_apply_gradient(InferContext& c) {
  expect_update(c);
  expect_replica_number(c);
  expect_gradient(c, 0);
  expect_scalar(c, 1, DType::int64);
  if (c.inputs() > 2) expect_learning_rate(c, 2);
}

void infer_apply_sparse_gradient(InferContext& c) {
  expect_update(c);
  expect_replica_number(c);
  expect_scalar(c, 0, DType::int64);
  expect_sparse_gradient(c, 1);
}

void infer_accumulate_gradient(InferContext& c) {
  expect_update(c);
  expect_gradient(c, 0);
  expect_scalar(c, 1, DType::int64);
  expect_scalar(c, 2, DType::int64);
  if (c.inputs() > 3) expect_learning_rate(c, 3);
  expect_replicas(c);
  c.add_output(DType::boolean, {});
}

void infer_accumulate_sparse_gradient(InferContext& c) {
  expect_update(c);
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
  c.add_output(DType::int64, {total, gradient_count_fields});
}

void infer_read_at_step(InferContext& c) {
  expect_variable(c);
  expect_scalar(c, 0, DType::int64);
  infer_declared(c);
}

void infer_has_gradient(InferContext& c) {
  expect_variable(c);
  expect_replica_number(c);
  expect_scalar(c, 0, DType::int64);
  c.add_output(DType::boolean, {});
}

void infer_count_step(InferContext& c) {
  expect_variable(c);
  expect_replica_number(c);
  expect_scalar(c, 0, DType::int64);
  expect_scalar(c, 1, DType::int64);
  c.add_output(DType::int64, {});
}

void infer_next_serial(InferContext& c) {
  expect_variable(c);
  expect_replica_number(c);
  c.add_output(DType::int64, {});
}

void infer_staleness(InferContext& c) {
  expect_variable(c);
  c.add_output(DType::float64, {3});
  c.add_output(DType::int64, {staleness_buckets});
}

}  // namespace

const OpDef& apply_gradient_op() {
  static const OpDef op{.name = "ApplyGradient",
                        .min_inputs = 2,
                        .max_inputs = 3,
                        .attrs = update_attrs() + serial_attrs(),
                        .infer = infer_apply_gradient,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& accumulate_gradient_op() {
  static const OpDef op{.name = "AccumulateGradient",
                        .min_inputs = 3,
                        .max_inputs = 4,
                        .attrs = accumulate_attrs(),
                        .infer = infer_accumulate_gradient,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& apply_sparse_gradient_op() {
  static const OpDef op{.name = "ApplySparseGradient",
                        .min_inputs = 3,
                        .max_inputs = OpDef::any_number,
                        .attrs = update_attrs() + serial_attrs(),
                        .infer = infer_apply_sparse_gradient,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& accumulate_sparse_gradient_op() {
  static const OpDef op{.name = "AccumulateSparseGradient",
                        .min_inputs = 4,
                        .max_inputs = OpDef::any_number,
                        .attrs = accumulate_attrs(),
                        .infer = infer_accumulate_sparse_gradient,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& gradient_counts_op() {
  static const OpDef op{.name = "GradientCounts",
                        .attrs = variable_attrs() + std::vector{required_int("total_num_replicas")},
                        .infer = infer_gradient_counts,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& read_at_step_op() {
  static const OpDef op{.name = "ReadAtStep",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs() + type_attrs(),
                        .infer = infer_read_at_step,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& has_gradient_op() {
  static const OpDef op{.name = "HasGradient",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs() + std::vector{required_int("replica")},
                        .infer = infer_has_gradient,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& count_step_op() {
  static const OpDef op{.name = "CountStep",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = variable_attrs() + serial_attrs(),
                        .infer = infer_count_step,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& next_serial_op() {
  static const OpDef op{.name = "NextSerial",
                        .attrs = variable_attrs() + serial_attrs(),
                        .infer = infer_next_serial,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& staleness_op() {
  static const OpDef op{.name = "Staleness",
                        .attrs = variable_attrs(),
                        .infer = infer_staleness,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

std::span<const OpDef* const> training_ops() {
  static const std::array all = {&apply_gradient_op(),
                                 &accumulate_gradient_op(),
                                 &apply_sparse_gradient_op(),
                                 &accumulate_sparse_gradient_op(),
                                 &gradient_counts_op(),
                                 &read_at_step_op(),
                                 &has_gradient_op(),
                                 &count_step_op(),
                                 &next_serial_op(),
                                 &staleness_op(),
                                 &take_token_op(),
                                 &join_clocks_op(),
                                 &advance_clock_op(),
                                 &leave_clocks_op(),
                                 &clock_statistics_op(),
                                 &hold_steps_op(),
                                 &release_steps_op()};
  return all;
}

}  // namespace actorflow

// The ops of training_ops.h at which replicas wait for each other.
#include <algorithm>

#include "dataflow/graph/op_attrs.h"
#include "dataflow/ops/replica_attrs.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow {
namespace {

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

void infer_hold_steps(InferContext& c) {
  expect_variable(c);
  c.expect_dtype(0, DType::int64);
  c.expect_rank(0, 1);
  const auto limit = c.attr<std::int64_t>("limit_ms");
  if (limit < 1) c.fail("a limit_ms of 1 or more", std::to_string(limit));
  c.add_output(DType::int64, {});
}

void infer_release_steps(InferContext& c) {
  expect_variable(c);
  c.add_output(DType::int64, {2});
}

}  // namespace

const OpDef& take_token_op() {
  static const OpDef op{
      .name = "TakeToken",
      .min_inputs = 2,
      .max_inputs = 2,
      .attrs = variable_attrs() + replica_attrs() +
               std::vector{required_int("accumulators"), required_int("initial_tokens"),
                           AttrDef{"task", std::string()}},
      .infer = infer_take_token,
      .dispatch = Dispatch::coordinator,
      .stateful = true};
  return op;
}

const OpDef& join_clocks_op() {
  static const OpDef op{.name = "JoinClocks",
                        .attrs = clock_attrs() + std::vector{required_text("task")},
                        .infer = infer_join_clocks,
                        .dispatch = Dispatch::coordinator,
                        .stateful = true};
  return op;
}

const OpDef& advance_clock_op() {
  static const OpDef op{.name = "AdvanceClock",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = clock_attrs(),
                        .infer = infer_advance_clock,
                        .dispatch = Dispatch::coordinator,
                        .stateful = true};
  return op;
}

const OpDef& leave_clocks_op() {
  static const OpDef op{.name = "LeaveClocks",
                        .attrs = clock_attrs(),
                        .infer = [](InferContext& c) { expect_clock(c); },
                        .dispatch = Dispatch::coordinator,
                        .stateful = true};
  return op;
}

const OpDef& clock_statistics_op() {
  static const OpDef op{.name = "ClockStatistics",
                        .attrs = clock_attrs(),
                        .infer = infer_clock_statistics,
                        .dispatch = Dispatch::coordinator,
                        .stateful = true};
  return op;
}

const OpDef& hold_steps_op() {
  static const OpDef op{.name = "HoldSteps",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs() + std::vector{required_int("limit_ms")},
                        .infer = infer_hold_steps,
                        .dispatch = Dispatch::coordinator,
                        .stateful = true};
  return op;
}

const OpDef& release_steps_op() {
  static const OpDef op{.name = "ReleaseSteps",
                        .attrs = variable_attrs(),
                        .infer = infer_release_steps,
                        .dispatch = Dispatch::coordinator,
                        .stateful = true};
  return op;
}

}  // namespace actorflow

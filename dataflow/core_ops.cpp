#include "dataflow/core_ops.h"

#include <algorithm>
#include <array>

#include "dataflow/graph.h"
#include "dataflow/optimizer.h"

namespace actorflow {
namespace {

AttrDef required(std::string_view name, AttrValue example) { return {name, std::move(example), true}; }
AttrDef required_int(std::string_view name) { return required(name, std::int64_t{0}); }
AttrDef required_text(std::string_view name) { return required(name, std::string()); }

std::vector<AttrDef> operator+(std::vector<AttrDef> a, const std::vector<AttrDef>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<AttrDef> type_attrs() {
  return {required("dtype", DType::invalid), required("shape", Shape())};
}
std::vector<AttrDef> variable_attr() { return {required_text("variable")}; }
std::vector<AttrDef> transfer_attrs() { return {required_int("channel"), required_text("peer")}; }
std::vector<AttrDef> update_attrs() {
  return {required_text("variable"), required_text("optimizer"),
          required("hyperparameters", std::vector<double>())};
}
std::vector<AttrDef> replica_attrs() {
  return {required_int("replica"), required_int("replicas_to_aggregate"),
          required_int("total_num_replicas")};
}

void expect_number(const InferContext& c, int input) {
  if (!is_floating(c.input(input).dtype) && !is_integer(c.input(input).dtype))
    c.fail("input " + std::to_string(input) + " of a numeric type", c.input(input).to_string());
}

void expect_scalar(const InferContext& c, int input, DType dtype) {
  c.expect_dtype(input, dtype);
  c.expect_rank(input, 0);
}

// Named state is found by its name: it must have one.
void expect_variable(const InferContext& c) {
  if (c.attr<std::string>("variable").empty()) c.fail("the name of a variable", "''");
}

void infer_declared(InferContext& c) {
  const DType dtype = c.attr<DType>("dtype");
  if (dtype == DType::invalid) c.fail("a dtype", "'invalid'");
  c.add_output(dtype, c.attr<Shape>("shape"));
}

void infer_same(InferContext& c) { c.add_output(c.input(0).dtype, c.input(0).shape); }

void infer_const(InferContext& c) {
  const auto& value = c.attr<Tensor>("value");
  if (!value.valid()) c.fail("a tensor as 'value'", "an empty one");
  c.add_output(value.dtype(), value.shape());
}

void infer_add_n(InferContext& c) {
  c.expect_same_dtype();
  expect_number(c, 0);
  Shape shape = c.input(0).shape;
  for (int i = 1; i < c.inputs(); ++i) {
    if (!shape.compatible_with(c.input(i).shape))
      c.fail("inputs of one shape", c.input(0).to_string() + " and " + c.input(i).to_string());
    shape = shape.merge(c.input(i).shape);
  }
  c.add_output(c.input(0).dtype, shape);
}

void infer_read_variable(InferContext& c) {
  expect_variable(c);
  infer_declared(c);
  const auto& shape = c.attr<Shape>("shape");
  if (!shape.fully_known()) c.fail("a fully known shape", shape.to_string());
}

void infer_assign_add(InferContext& c) {
  expect_variable(c);
  expect_number(c, 0);
  infer_same(c);
}

void infer_is_initialized(InferContext& c) {
  expect_variable(c);
  c.add_output(DType::boolean, {});
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

std::vector<Output> identity_gradient(GradientContext& c) { return {c.gradient()}; }

std::vector<Output> add_n_gradient(GradientContext& c) { return {c.node().inputs.size(), c.gradient()}; }

}  // namespace

const OpDef& const_op() {
  static const OpDef op{.name = "Const", .attrs = {required("value", Tensor())}, .infer = infer_const};
  return op;
}

const OpDef& placeholder_op() {
  static const OpDef op{
      .name = "Placeholder", .attrs = type_attrs(), .infer = infer_declared, .home = Home::lane};
  return op;
}

const OpDef& identity_op() {
  static const OpDef op{.name = "Identity",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = infer_same,
                        .gradient = identity_gradient};
  return op;
}

const OpDef& no_op() {
  static const OpDef op{.name = "NoOp"};
  return op;
}

const OpDef& add_n_op() {
  static const OpDef op{.name = "AddN",
                        .min_inputs = 1,
                        .max_inputs = OpDef::any_number,
                        .infer = infer_add_n,
                        .gradient = add_n_gradient};
  return op;
}

const OpDef& arg_op() {
  static const OpDef op{.name = "Arg",
                        .attrs = std::vector{required_int("index")} + type_attrs(),
                        .infer = infer_declared,
                        .home = Home::lane};
  return op;
}

const OpDef& retval_op() {
  static const OpDef op{.name = "Retval",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {required_int("index")},
                        .home = Home::lane};
  return op;
}

const OpDef& send_op() {
  static const OpDef op{.name = "Send",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = transfer_attrs(),
                        .home = Home::rendezvous,
                        .stateful = true};
  return op;
}

const OpDef& recv_op() {
  static const OpDef op{.name = "Recv",
                        .attrs = transfer_attrs() + type_attrs(),
                        .infer = infer_declared,
                        .home = Home::rendezvous,
                        .stateful = true};
  return op;
}

const OpDef& read_variable_op() {
  static const OpDef op{.name = "ReadVariable",
                        .attrs = variable_attr() + type_attrs(),
                        .infer = infer_read_variable,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& assign_variable_op() {
  static const OpDef op{.name = "AssignVariable",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attr(),
                        .infer = [](InferContext& c) { expect_variable(c); },
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& assign_add_variable_op() {
  static const OpDef op{.name = "AssignAddVariable",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attr(),
                        .infer = infer_assign_add,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& is_initialized_op() {
  static const OpDef op{.name = "IsInitialized",
                        .attrs = variable_attr(),
                        .infer = infer_is_initialized,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

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
                        .attrs = variable_attr(),
                        .infer = infer_count_step,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& staleness_op() {
  static const OpDef op{.name = "Staleness",
                        .attrs = variable_attr(),
                        .infer = infer_staleness,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& take_token_op() {
  static const OpDef op{
      .name = "TakeToken",
      .attrs = variable_attr() + replica_attrs() +
               std::vector{required_int("accumulators"), required_int("initial_tokens")},
      .infer = infer_take_token,
      .home = Home::coordinator,
      .stateful = true};
  return op;
}

std::span<const OpDef* const> core_ops() {
  static const std::array all = {&const_op(),
                                 &placeholder_op(),
                                 &identity_op(),
                                 &no_op(),
                                 &add_n_op(),
                                 &arg_op(),
                                 &retval_op(),
                                 &send_op(),
                                 &recv_op(),
                                 &read_variable_op(),
                                 &assign_variable_op(),
                                 &assign_add_variable_op(),
                                 &is_initialized_op(),
                                 &apply_gradient_op(),
                                 &accumulate_gradient_op(),
                                 &count_step_op(),
                                 &staleness_op(),
                                 &take_token_op()};
  return all;
}

}  // namespace actorflow

#include "dataflow/state_ops.h"

#include <array>

#include "dataflow/op_attrs.h"

namespace actorflow {
namespace {

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

}  // namespace

const OpDef& read_variable_op() {
  static const OpDef op{.name = "ReadVariable",
                        .attrs = variable_attrs() + type_attrs(),
                        .infer = infer_read_variable,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& assign_variable_op() {
  static const OpDef op{.name = "AssignVariable",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs(),
                        .infer = [](InferContext& c) { expect_variable(c); },
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& assign_add_variable_op() {
  static const OpDef op{.name = "AssignAddVariable",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs(),
                        .infer = infer_assign_add,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& is_initialized_op() {
  static const OpDef op{.name = "IsInitialized",
                        .attrs = variable_attrs(),
                        .infer = infer_is_initialized,
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& raise_epoch_op() {
  static const OpDef op{.name = "RaiseEpoch",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = [](InferContext& c) { expect_scalar(c, 0, DType::int64); },
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

const OpDef& read_epoch_op() {
  static const OpDef op{.name = "ReadEpoch",
                        .infer = [](InferContext& c) { c.add_output(DType::int64, {}); },
                        .home = Home::shard,
                        .stateful = true};
  return op;
}

std::span<const OpDef* const> state_ops() {
  static const std::array all = {&read_variable_op(),       &assign_variable_op(),
                                 &assign_add_variable_op(), &is_initialized_op(),
                                 &raise_epoch_op(),         &read_epoch_op()};
  return all;
}

}  // namespace actorflow

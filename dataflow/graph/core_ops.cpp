#include "dataflow/graph/core_ops.h"

#include <vector>

#include "dataflow/graph/op_attrs.h"

namespace actorflow {
namespace {

std::vector<AttrDef> transfer_attrs() { return {required_int("channel"), required_text("peer")}; }

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

std::vector<Output> identity_gradient(GradientContext& c) { return {c.gradient()}; }

std::vector<Output> add_n_gradient(GradientContext& c) { return {c.node().inputs.size(), c.gradient()}; }

}  // namespace

const OpDef& const_op() {
  static const OpDef op{.name = "Const", .attrs = {required("value", Tensor())}, .infer = infer_const};
  return op;
}

const OpDef& placeholder_op() {
  static const OpDef op{
      .name = "Placeholder", .attrs = type_attrs(), .infer = infer_declared, .dispatch = Dispatch::step};
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
                        .dispatch = Dispatch::step};
  return op;
}

const OpDef& retval_op() {
  static const OpDef op{.name = "Retval",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {required_int("index")},
                        .dispatch = Dispatch::step};
  return op;
}

const OpDef& send_op() {
  static const OpDef op{.name = "Send",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = transfer_attrs(),
                        .dispatch = Dispatch::rendezvous,
                        .stateful = true};
  return op;
}

const OpDef& recv_op() {
  static const OpDef op{.name = "Recv",
                        .attrs = transfer_attrs() + type_attrs(),
                        .infer = infer_declared,
                        .dispatch = Dispatch::rendezvous,
                        .stateful = true};
  return op;
}

std::span<const OpDef* const> core_ops() {
  static const std::vector<const OpDef*> all{&const_op(),  &placeholder_op(), &identity_op(),
                                             &no_op(),     &add_n_op(),       &arg_op(),
                                             &retval_op(), &send_op(),        &recv_op()};
  return all;
}

}  // namespace actorflow

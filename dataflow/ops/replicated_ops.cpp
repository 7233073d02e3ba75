#include "dataflow/ops/replicated_ops.h"

#include <array>

#include "dataflow/graph/op_attrs.h"
#include "dataflow/ops/update_attrs.h"
#include "dataflow/ops/variable_list.h"

namespace actorflow {
namespace {

void infer_apply_reduced(InferContext& c) {
  expect_update(c);
  expect_gradient(c, 0);
  if (c.inputs() > 1) expect_learning_rate(c, 1);
}

void infer_apply_gathered(InferContext& c) {
  expect_update(c);
  for (int i = 0; i + 2 < c.inputs(); i += 3) {
    expect_rows(c, i);
    c.expect_dtype(i + 2, DType::int64);
    c.expect_rank(i + 2, 1);
  }
  if (c.inputs() % 3 == 2)
    c.fail("values, indices and rows, and perhaps a learning rate",
           std::to_string(c.inputs()) + " inputs");
  if (c.inputs() % 3 == 1) expect_learning_rate(c, c.inputs() - 1);
}

void infer_read_state(InferContext& c) {
  expect_names(c);
  for (int i = 0; i < c.inputs(); ++i) {
    c.expect_dtype(i, DType::uint8);
    c.expect_rank(i, 1);
  }
  c.add_output(DType::uint8, {Shape::unknown});
}

void infer_assign_state(InferContext& c) {
  expect_names(c);
  c.expect_dtype(0, DType::uint8);
  c.expect_rank(0, 1);
}

void expect_variable_of(InferContext& c) { expect_variable(c); }

void infer_read_change(InferContext& c) {
  expect_variable(c);
  infer_declared(c);
}

}  // namespace

const OpDef& apply_reduced_gradient_op() {
  static const OpDef op = shard_op("ApplyReducedGradient", 1, 2, update_attrs(), infer_apply_reduced);
  return op;
}

const OpDef& apply_gathered_gradient_op() {
  static const OpDef op =
      shard_op("ApplyGatheredGradient", 3, OpDef::any_number, update_attrs(), infer_apply_gathered);
  return op;
}

const OpDef& read_state_op() {
  static const OpDef op = [] {
    const AttrDef values_only{"values_only", Tensor::of<std::string>({0}, {}), false, true};
    return shard_op("ReadState", 0, OpDef::any_number, {variables_attr(), values_only}, infer_read_state);
  }();
  return op;
}

const OpDef& assign_state_op() {
  static const OpDef op = shard_op("AssignState", 1, 1, {variables_attr()}, infer_assign_state);
  return op;
}

const OpDef& read_change_op() {
  static const OpDef op = shard_op(
      "ReadChange", 0, 0, variable_attrs() + std::vector{required_state("since")} + type_attrs(),
      infer_read_change);
  return op;
}

const OpDef& take_value_op() {
  static const OpDef op =
      shard_op("TakeValue", 0, 0,
               variable_attrs() + std::vector{required_state("from"), AttrDef{"forget_slots", false}},
               expect_variable_of);
  return op;
}

std::span<const OpDef* const> replicated_ops() {
  static const std::array all = {&apply_reduced_gradient_op(),
                                 &apply_gathered_gradient_op(),
                                 &read_state_op(),
                                 &assign_state_op(),
                                 &read_change_op(),
                                 &take_value_op()};
  return all;
}

std::vector<AgreedVariable> agreed_variables(const GraphDef& graph) {
  std::vector<AgreedVariable> all;
  for (const Node& node : graph.nodes)
    if (node.op == &take_value_op())
      all.push_back({attr<std::string>(node, "variable"), attr<std::string>(node, "from")});
  return all;
}

}  // namespace actorflow

#include "dataflow/ops/replicated_ops.h"

#include <array>

#include "dataflow/graph/op_attrs.h"
#include "dataflow/ops/update_attrs.h"
#include "dataflow/ops/variable_list.h"

namespace actorflow {
namespace {

void infer_apply_reduced(InferContext& c) {
  expect_optimizer(c);
  expect_gradient(c, 0);
  if (c.inputs() > 1) expect_learning_rate(c, 1);
}

void infer_apply_gathered(InferContext& c) {
  expect_optimizer(c);
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
  c.add_output(DType::uint8, {Shape::unknown});
}

void infer_assign_state(InferContext& c) {
  expect_names(c);
  c.expect_dtype(0, DType::uint8);
  c.expect_rank(0, 1);
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
    return shard_op("ReadState", 0, 0, {variables_attr(), values_only}, infer_read_state);
  }();
  return op;
}

const OpDef& assign_state_op() {
  static const OpDef op = shard_op("AssignState", 1, 1, {variables_attr()}, infer_assign_state);
  return op;
}

std::span<const OpDef* const> replicated_ops() {
  static const std::array all = {&apply_reduced_gradient_op(), &apply_gathered_gradient_op(),
                                 &read_state_op(), &assign_state_op()};
  return all;
}

}  // namespace actorflow

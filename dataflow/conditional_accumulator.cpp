#include "dataflow/conditional_accumulator.h"

#include <array>

#include "dataflow/containers.h"
#include "dataflow/op_attrs.h"

namespace actorflow {
namespace {

std::vector<AttrDef> accumulator_attrs() {
  return variable_attrs() + type_attrs() + std::vector{required_text("reduction")};
}

void expect_accumulator(const InferContext& c) {
  expect_variable(c);
  if (!is_floating(c.attr<DType>("dtype")))
    c.fail("a floating dtype", std::string(to_string(c.attr<DType>("dtype"))));
  if (!c.attr<Shape>("shape").fully_known())
    c.fail("a fully known shape", c.attr<Shape>("shape").to_string());
  const auto& reduction = c.attr<std::string>("reduction");
  if (reduction != "mean" && reduction != "sum")
    c.fail("the reduction 'mean' or 'sum'", "'" + reduction + "'");
}

void infer_apply(InferContext& c) {
  expect_accumulator(c);
  const TensorType expected{c.attr<DType>("dtype"), c.attr<Shape>("shape")};
  if (c.input(0).dtype != expected.dtype || !c.input(0).shape.compatible_with(expected.shape))
    c.fail("a gradient " + expected.to_string(), c.input(0).to_string());
  expect_scalar(c, 1, DType::int64);
  c.add_output(DType::boolean, {});
}

void infer_take(InferContext& c) {
  expect_accumulator(c);
  expect_scalar(c, 0, DType::int64);
  c.add_output(c.attr<DType>("dtype"), c.attr<Shape>("shape"));
}

void infer_size(InferContext& c) {
  expect_accumulator(c);
  c.add_output(DType::int64, {});
}

void infer_set_step(InferContext& c) {
  expect_accumulator(c);
  expect_scalar(c, 0, DType::int64);
}

OpDef accumulator_op(std::string_view name, int inputs, void (*infer)(InferContext&)) {
  return {.name = name,
          .min_inputs = inputs,
          .max_inputs = inputs,
          .attrs = accumulator_attrs(),
          .infer = infer,
          .home = Home::shard,
          .stateful = true};
}

}  // namespace

ConditionalAccumulator::ConditionalAccumulator(Graph& graph, DType dtype, const Shape& shape,
                                               const std::string& name, Reduction reduction)
    : graph_(&graph),
      name_(name.empty() ? name : in_container(graph.current_container(), name)),
      attrs_{{"variable", name_},
             {"dtype", dtype},
             {"shape", shape},
             {"reduction", reduction == Reduction::mean ? "mean" : "sum"}} {
  // A node that shows where the scope puts the accumulator, and whether its attributes are right.
  device_ = graph.add(accumulator_size_op(), {}, attrs_, name).node().device;
}

Output ConditionalAccumulator::add(const OpDef& op, const std::vector<Output>& inputs) const {
  return graph_->on(device_, [&] { return graph_->add(op, inputs, attrs_); });
}

Output ConditionalAccumulator::apply_grad(Output gradient, Output local_step) const {
  return add(accumulator_apply_op(), {gradient, local_step});
}
Output ConditionalAccumulator::take_grad(Output num_required) const {
  return add(accumulator_take_op(), {num_required});
}
Output ConditionalAccumulator::num_accumulated() const { return add(accumulator_size_op(), {}); }
Output ConditionalAccumulator::set_global_step(Output step) const {
  return add(accumulator_set_step_op(), {step});
}

const OpDef& accumulator_apply_op() {
  static const OpDef op = accumulator_op("AccumulatorApplyGradient", 2, infer_apply);
  return op;
}
const OpDef& accumulator_take_op() {
  static const OpDef op = accumulator_op("AccumulatorTakeGradient", 1, infer_take);
  return op;
}
const OpDef& accumulator_size_op() {
  static const OpDef op = accumulator_op("AccumulatorNumAccumulated", 0, infer_size);
  return op;
}
const OpDef& accumulator_set_step_op() {
  static const OpDef op = accumulator_op("AccumulatorSetGlobalStep", 1, infer_set_step);
  return op;
}

std::span<const OpDef* const> accumulator_ops() {
  static const std::array all = {&accumulator_apply_op(), &accumulator_take_op(), &accumulator_size_op(),
                                 &accumulator_set_step_op()};
  return all;
}

}  // namespace actorflow

#include "dataflow/ops/conditional_accumulator.h"

#include <array>

#include "dataflow/graph/containers.h"
#include "dataflow/graph/op_attrs.h"

namespace actorflow {
namespace {

std::vector<AttrDef> accumulator_attrs() {
  return variable_attrs() + type_attrs() +
         std::vector{required_text("reduction"), required("sparse", false)};
}

void expect_accumulator(const InferContext& c) {
  expect_variable(c);
  if (!is_float32_or_64(c.attr<DType>("dtype")))
    c.fail("the dtype float32 or float64", std::string(to_string(c.attr<DType>("dtype"))));
  if (!c.attr<Shape>("shape").fully_known())
    c.fail("a fully known shape", c.attr<Shape>("shape").to_string());
  if (c.attr<bool>("sparse") && c.attr<Shape>("shape").rank() == 0)
    c.fail("a shape with rows", c.attr<Shape>("shape").to_string());
  const auto& reduction = c.attr<std::string>("reduction");
  if (reduction != "mean" && reduction != "sum")
    c.fail("the reduction 'mean' or 'sum'", "'" + reduction + "'");
}

void expect_kind(const InferContext& c, bool sparse) {
  expect_accumulator(c);
  if (c.attr<bool>("sparse") != sparse)
    c.fail(sparse ? "a sparse accumulator" : "a dense accumulator",
           sparse ? "a dense one" : "a sparse one");
}

// n rows of the accumulator's shape, with unknown n.
Shape rows_of(const InferContext& c) {
  Shape rows = c.attr<Shape>("shape");
  rows.set(0, Shape::unknown);
  return rows;
}

void infer_apply(InferContext& c) {
  expect_kind(c, false);
  const TensorType expected{c.attr<DType>("dtype"), c.attr<Shape>("shape")};
  if (c.input(0).dtype != expected.dtype || !c.input(0).shape.compatible_with(expected.shape))
    c.fail("a gradient " + expected.to_string(), c.input(0).to_string());
  expect_scalar(c, 1, DType::int64);
  c.add_output(DType::boolean, {});
}

void infer_apply_sparse(InferContext& c) {
  expect_kind(c, true);
  const TensorType expected{c.attr<DType>("dtype"), rows_of(c)};
  if (c.input(0).dtype != expected.dtype || !c.input(0).shape.compatible_with(expected.shape))
    c.fail("rows of a gradient as " + expected.to_string(), c.input(0).to_string());
  c.expect_dtype(1, DType::int64);
  c.expect_rank(1, 1);
  expect_scalar(c, 2, DType::int64);
  c.add_output(DType::boolean, {});
}

void infer_take_sparse(InferContext& c) {
  expect_kind(c, true);
  expect_scalar(c, 0, DType::int64);
  c.add_output(c.attr<DType>("dtype"), rows_of(c));
  c.add_output(DType::int64, {Shape::unknown});
}

void infer_take(InferContext& c) {
  expect_kind(c, false);
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
          .dispatch = Dispatch::shard,
          .stateful = true};
}

}  // namespace

ConditionalAccumulatorBase::ConditionalAccumulatorBase(Graph& graph, DType dtype, const Shape& shape,
                                                       const std::string& name, Reduction reduction,
                                                       bool sparse)
    : graph_(&graph),
      name_(name.empty() ? name : in_container(graph.current_container(), name)),
      attrs_{{"variable", name_},
             {"dtype", dtype},
             {"shape", shape},
             {"reduction", reduction == Reduction::mean ? "mean" : "sum"},
             {"sparse", sparse}} {
  // A node that shows where the scope puts the accumulator, and whether its attributes are right.
  device_ = graph.add(accumulator_size_op(), {}, attrs_, name).node().device;
}

Output ConditionalAccumulatorBase::add(const OpDef& op, const std::vector<Output>& inputs) const {
  return graph_->on(device_, [&] { return graph_->add(op, inputs, attrs_); });
}

Output ConditionalAccumulatorBase::num_accumulated() const { return add(accumulator_size_op(), {}); }
Output ConditionalAccumulatorBase::set_global_step(Output step) const {
  return add(accumulator_set_step_op(), {step});
}

Output ConditionalAccumulator::apply_grad(Output gradient, Output local_step) const {
  return add(accumulator_apply_op(), {gradient, local_step});
}
Output ConditionalAccumulator::take_grad(Output num_required) const {
  return add(accumulator_take_op(), {num_required});
}

Output SparseConditionalAccumulator::apply_grad(const IndexedSlices& gradient, Output local_step) const {
  return add(accumulator_apply_sparse_op(), {gradient.values, gradient.indices, local_step});
}
IndexedSlices SparseConditionalAccumulator::take_grad(Output num_required) const {
  const Output taken = add(accumulator_take_sparse_op(), {num_required});
  return {taken, taken.output(1)};
}

const OpDef& accumulator_apply_op() {
  static const OpDef op = accumulator_op("AccumulatorApplyGradient", 2, infer_apply);
  return op;
}
const OpDef& accumulator_take_op() {
  static const OpDef op = accumulator_op("AccumulatorTakeGradient", 1, infer_take);
  return op;
}
const OpDef& accumulator_apply_sparse_op() {
  static const OpDef op = accumulator_op("SparseAccumulatorApplyGradient", 3, infer_apply_sparse);
  return op;
}
const OpDef& accumulator_take_sparse_op() {
  static const OpDef op = accumulator_op("SparseAccumulatorTakeGradient", 1, infer_take_sparse);
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
  static const std::array all = {&accumulator_apply_op(),        &accumulator_take_op(),
                                 &accumulator_apply_sparse_op(), &accumulator_take_sparse_op(),
                                 &accumulator_size_op(),         &accumulator_set_step_op()};
  return all;
}

}  // namespace actorflow

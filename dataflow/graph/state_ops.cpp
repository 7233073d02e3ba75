#include "dataflow/graph/state_ops.h"

#include <array>

#include "dataflow/graph/op_attrs.h"

namespace actorflow {
namespace {

// A part of a variable lies inside of the whole.
void expect_inside(const InferContext& c, const Shape& part) {
  const auto& whole = c.attr<Shape>("slice_shape");
  const auto& offset = c.attr<std::vector<std::int64_t>>("slice_offset");
  bool inside = whole.fully_known() && whole.rank() == part.rank() && std::ssize(offset) == part.rank();
  for (int i = 0; inside && i < part.rank(); ++i) {
    const std::int64_t begin = offset[static_cast<std::size_t>(i)];
    inside = begin >= 0 && begin <= whole[i] - part[i];
  }
  if (!inside)
    c.fail("a slice_offset for which " + part.to_string() + " lies inside of slice_shape " +
               whole.to_string(),
           "an offset of " + std::to_string(offset.size()) + " numbers that does not");
}

Shape rows_shape(const InferContext& c, const Shape& indices, const Shape& variable) {
  if (indices.rank() + variable.rank() - 1 > Shape::max_rank)
    c.fail("a result of at most " + std::to_string(Shape::max_rank) + " dimensions",
           variable.to_string() + " and indices " + indices.to_string());
  Shape shape = indices;
  for (int i = 1; i < variable.rank(); ++i) shape.push_back(variable[i]);
  return shape;
}

void infer_read_variable(InferContext& c) {
  expect_variable(c);
  infer_declared(c);
  const auto& shape = c.attr<Shape>("shape");
  if (!shape.fully_known()) c.fail("a fully known shape", shape.to_string());
  if (!c.attr<std::string>("slice_of").empty()) expect_inside(c, shape);
}

void infer_gather_variable(InferContext& c) {
  expect_variable(c);
  const DType indices = c.input(0).dtype;
  if (indices != DType::int32 && indices != DType::int64)
    c.fail("indices of type int32 or int64", c.input(0).to_string());
  const auto& shape = c.attr<Shape>("shape");
  if (!shape.fully_known() || shape.rank() == 0)
    c.fail("a variable with rows, of a fully known shape", shape.to_string());
  if (!c.input(0).shape.has_rank()) return c.add_output(c.attr<DType>("dtype"), Shape::unknown_rank());
  c.add_output(c.attr<DType>("dtype"), rows_shape(c, c.input(0).shape, shape));
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
                        .attrs = variable_attrs() + type_attrs() +
                                 std::vector<AttrDef>{{"slice_of", std::string()},
                                                      {"slice_shape", Shape()},
                                                      {"slice_offset", std::vector<std::int64_t>()}},
                        .infer = infer_read_variable,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& assign_variable_op() {
  static const OpDef op{.name = "AssignVariable",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs(),
                        .infer = [](InferContext& c) { expect_variable(c); },
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& assign_add_variable_op() {
  static const OpDef op{.name = "AssignAddVariable",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs(),
                        .infer = infer_assign_add,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& is_initialized_op() {
  static const OpDef op{.name = "IsInitialized",
                        .attrs = variable_attrs(),
                        .infer = infer_is_initialized,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& gather_variable_op() {
  static const OpDef op{.name = "GatherVariable",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = variable_attrs() + type_attrs(),
                        .infer = infer_gather_variable,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& raise_epoch_op() {
  static const OpDef op{.name = "RaiseEpoch",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = [](InferContext& c) { expect_scalar(c, 0, DType::int64); },
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& read_epoch_op() {
  static const OpDef op{.name = "ReadEpoch",
                        .infer = [](InferContext& c) { c.add_output(DType::int64, {}); },
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

std::span<const OpDef* const> state_ops() {
  static const std::array all = {&read_variable_op(),  &assign_variable_op(), &assign_add_variable_op(),
                                 &is_initialized_op(), &gather_variable_op(), &raise_epoch_op(),
                                 &read_epoch_op()};
  return all;
}

}  // namespace actorflow

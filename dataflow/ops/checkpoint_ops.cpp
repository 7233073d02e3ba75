#include "dataflow/ops/checkpoint_ops.h"

#include <array>

#include "dataflow/graph/graph.h"
#include "dataflow/graph/op_attrs.h"

namespace actorflow {
namespace {

using Ints = std::vector<std::int64_t>;

std::vector<AttrDef> list_attrs() {
  return {AttrDef{"variables", Tensor(), true, true}, required("names", Tensor()),
          required("first_rows", Ints()), required("full_rows", Ints()), required("rows", Ints())};
}

void expect_lists(const InferContext& c) {
  const auto& variables = c.attr<Tensor>("variables");
  const auto& names = c.attr<Tensor>("names");
  if (variables.dtype() != DType::string || names.dtype() != DType::string)
    c.fail("lists of strings as 'variables' and 'names'",
           variables.describe() + ", " + names.describe());
  const auto count = static_cast<std::size_t>(variables.elements());
  for (const auto* list : {"first_rows", "full_rows", "rows"})
    if (c.attr<Ints>(list).size() != count || names.elements() != variables.elements())
      c.fail("lists of one length", std::to_string(count) + " variables, " +
                                        std::to_string(names.elements()) + " names and " +
                                        std::to_string(c.attr<Ints>(list).size()) + " " + list);
}

void infer_snapshot(InferContext& c) {
  expect_lists(c);
  expect_scalar(c, 0, DType::string);
  expect_scalar(c, 1, DType::int64);
  for (int i = 2; i < c.inputs(); ++i) c.expect_dtype(i, DType::uint8);
  c.add_output(DType::int64, {});
  c.add_output(DType::string, {Shape::unknown});
  c.add_output(DType::int64, {Shape::unknown, 3});
}

void infer_write(InferContext& c) {
  expect_scalar(c, 0, DType::string);
  expect_scalar(c, 1, DType::string);
  expect_scalar(c, 2, DType::int64);
  c.add_output(DType::string, {});
}

void infer_take_from_snapshot(InferContext& c) {
  expect_scalar(c, 0, DType::string);
  infer_declared(c);
  c.add_output(DType::uint8, {Shape::unknown});
}

void infer_restore(InferContext& c) {
  expect_lists(c);
  expect_scalar(c, 0, DType::string);
  expect_scalar(c, 1, DType::string);
}

}  // namespace

const OpDef& snapshot_variables_op() {
  static const OpDef op{
      .name = "SnapshotVariables",
      .min_inputs = 2,
      .max_inputs = OpDef::any_number,
      .attrs =
          list_attrs() + std::vector{required("global_step", std::string()),
                                     AttrDef{"sliced", Tensor::of<std::string>({0}, {}), false, true}},
      .infer = infer_snapshot,
      .dispatch = Dispatch::shard,
      .stateful = true};
  return op;
}

const OpDef& write_snapshot_op() {
  static const OpDef op{.name = "WriteSnapshot",
                        .min_inputs = 3,
                        .max_inputs = 3,
                        .infer = infer_write,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& take_from_snapshot_op() {
  static const OpDef op{.name = "TakeFromSnapshot",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = std::vector{required("name", std::string())} + type_attrs(),
                        .infer = infer_take_from_snapshot,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

const OpDef& restore_variables_op() {
  static const OpDef op{.name = "RestoreVariables",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = list_attrs(),
                        .infer = infer_restore,
                        .dispatch = Dispatch::shard,
                        .stateful = true};
  return op;
}

std::span<const OpDef* const> checkpoint_ops() {
  static const std::array all = {&snapshot_variables_op(), &write_snapshot_op(),
                                 &take_from_snapshot_op(), &restore_variables_op()};
  return all;
}

Attrs checkpoint_attrs(std::span<const VariableInCheckpoint> variables) {
  std::vector<std::string> shard_names, names;
  Ints first_rows, full_rows, rows;
  for (const auto& variable : variables) {
    shard_names.push_back(variable.variable);
    names.push_back(variable.name);
    first_rows.push_back(variable.first_row);
    full_rows.push_back(variable.full_rows);
    rows.push_back(variable.rows);
  }
  const Shape shape{static_cast<std::int64_t>(variables.size())};
  return {{"variables", Tensor::of(shape, shard_names)},
          {"names", Tensor::of(shape, names)},
          {"first_rows", first_rows},
          {"full_rows", full_rows},
          {"rows", rows}};
}

std::vector<VariableInCheckpoint> variables_in_checkpoint(const Node& node) {
  const auto variables = attr<Tensor>(node, "variables").values<std::string>();
  const auto names = attr<Tensor>(node, "names").values<std::string>();
  const auto& first_rows = attr<Ints>(node, "first_rows");
  const auto& full_rows = attr<Ints>(node, "full_rows");
  const auto& rows = attr<Ints>(node, "rows");
  std::vector<VariableInCheckpoint> list;
  for (std::size_t i = 0; i < variables.size(); ++i)
    list.push_back({variables[i], names[i], first_rows[i], full_rows[i], rows[i]});
  return list;
}

}  // namespace actorflow

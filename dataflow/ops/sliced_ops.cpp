#include "dataflow/ops/sliced_ops.h"

#include <array>
#include <sstream>

#include "dataflow/graph/op_attrs.h"
#include "dataflow/ops/optimizer.h"
#include "dataflow/ops/update_attrs.h"
#include "dataflow/ops/variable_list.h"

namespace actorflow {
namespace {

std::vector<AttrDef> slice_attr_defs(const std::vector<AttrDef>& more = {}) {
  return std::vector{variables_attr(), required("borders", Tensor())} + more;
}

// The number of variables.
std::int64_t expect_slices(const InferContext& c) {
  const std::int64_t count = expect_names(c);
  const Tensor& borders = c.attr<Tensor>("borders");
  if (borders.dtype() != DType::int64 || borders.shape().rank() != 2 || borders.shape()[0] != count ||
      borders.shape()[1] < 2)
    c.fail("the borders of slices, int64[" + std::to_string(count) + ", ranks + 1]",
           borders.valid() ? borders.describe() : "nothing");
  const auto values = borders.values<std::int64_t>();
  const auto columns = static_cast<std::size_t>(borders.shape()[1]);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i % columns == 0 ? values[i] != 0 : values[i] < values[i - 1])
      c.fail("borders that begin with 0 and grow", std::to_string(values[i]));
  return count;
}

void expect_rank(const InferContext& c) {
  const auto rank = c.attr<std::int64_t>("rank"), ranks = c.attr<Tensor>("borders").shape()[1] - 1;
  if (rank < 0 || rank >= ranks)
    c.fail("a rank from 0 to " + std::to_string(ranks - 1), std::to_string(rank));
}

void expect_bytes(const InferContext& c, int input) {
  c.expect_dtype(input, DType::uint8);
  c.expect_rank(input, 1);
}

void infer_cut(InferContext& c) {
  const std::int64_t count = expect_slices(c);
  expect_rank(c);
  if (c.inputs() != count)
    c.fail(std::to_string(count) + " gradients", std::to_string(c.inputs()) + " inputs");
  const auto borders = c.attr<Tensor>("borders").values<std::int64_t>();
  const auto columns = static_cast<std::size_t>(c.attr<Tensor>("borders").shape()[1]);
  const auto rank = static_cast<std::size_t>(c.attr<std::int64_t>("rank"));
  std::int64_t elements = 0;
  for (int i = 0; i < c.inputs(); ++i) {
    expect_gradient(c, i);
    c.expect_dtype(i, c.input(0).dtype);
    const std::size_t row = static_cast<std::size_t>(i) * columns;
    if (c.input(i).shape.fully_known() && c.input(i).shape.elements() != borders[row + columns - 1])
      c.fail(std::to_string(borders[row + columns - 1]) + " elements", c.input(i).to_string());
    elements += borders[row + rank + 1] - borders[row + rank];
  }
  c.add_output(c.input(0).dtype, {elements});
}

void infer_count(InferContext& c) {
  const std::int64_t count = expect_slices(c);
  expect_rank(c);
  expect_gradient(c, 0);
  c.add_output(DType::int64, {count});
}

void infer_update(InferContext& c) {
  expect_slices(c);
  expect_rank(c);
  expect_gradient(c, 0);
  c.expect_dtype(1, DType::int64);
  expect_scalar(c, 2, DType::int64);
  if (c.inputs() > 3) expect_learning_rate(c, 3);
  expect_optimizer(c);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

void infer_assign(InferContext& c) {
  expect_slices(c);
  expect_gradient(c, 0);
}

void infer_read_slots(InferContext& c) {
  expect_slices(c);
  expect_rank(c);
  expect_scalar(c, 0, DType::int64);
  c.add_output(DType::uint8, {Shape::unknown});
}

void infer_divide(InferContext& c) {
  expect_slices(c);
  c.add_output(DType::uint8, {Shape::unknown});
  c.add_output(DType::int64, {c.attr<Tensor>("borders").shape()[1] - 1});
}

void infer_assign_slots(InferContext& c) {
  expect_slices(c);
  expect_rank(c);
  expect_bytes(c, 0);
  expect_scalar(c, 1, DType::int64);
}

void infer_has_whole(InferContext& c) {
  expect_names(c);
  c.add_output(DType::boolean, {});
}

// What UpdateSlices has besides the slices.
std::vector<AttrDef> optimizer_attrs() {
  return {required_int("rank"), required_text("ranks"), required_text("optimizer"),
          required("hyperparameters", std::vector<double>()), required("skip_not_finite", false)};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> list;
  for (std::string word; words >> word;) list.push_back(std::move(word));
  return list;
}

}  // namespace

std::int64_t SlicedVariables::elements_of_rank(int rank) const {
  std::int64_t all = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) all += count(i, rank);
  return all;
}

Attrs slice_attrs(const SlicedVariables& sliced) {
  const auto count = std::ssize(sliced.variables);
  return {{"variables", Tensor::of<std::string>({count}, sliced.variables)},
          {"borders", Tensor::of<std::int64_t>({count, sliced.ranks + 1}, sliced.borders)}};
}

SlicedVariables sliced_variables(const Node& node) {
  const auto names = attr<Tensor>(node, "variables").values<std::string>();
  const Tensor& table = attr<Tensor>(node, "borders");
  const auto borders = table.values<std::int64_t>();
  return {.variables = {names.begin(), names.end()},
          .ranks = static_cast<int>(table.shape()[1] - 1),
          .borders = {borders.begin(), borders.end()}};
}

const OpDef& cut_slices_op() {
  static const OpDef op =
      shard_op("CutSlices", 1, OpDef::any_number, slice_attr_defs({required_int("rank")}), infer_cut);
  return op;
}
const OpDef& count_not_finite_slices_op() {
  static const OpDef op =
      shard_op("CountNotFiniteSlices", 1, 1, slice_attr_defs({required_int("rank")}), infer_count);
  return op;
}
const OpDef& update_slices_op() {
  static const OpDef op =
      shard_op("UpdateSlices", 3, 4, slice_attr_defs(optimizer_attrs()), infer_update);
  return op;
}
const OpDef& assign_slices_op() {
  static const OpDef op = shard_op("AssignSlices", 1, 1, slice_attr_defs(), infer_assign);
  return op;
}
const OpDef& read_slot_slices_op() {
  static const OpDef op =
      shard_op("ReadSlotSlices", 1, 1, slice_attr_defs({required_int("rank")}), infer_read_slots);
  return op;
}
const OpDef& divide_slots_op() {
  static const OpDef op = shard_op("DivideSlots", 0, 0, slice_attr_defs(), infer_divide);
  return op;
}
const OpDef& assign_slot_slices_op() {
  static const OpDef op =
      shard_op("AssignSlotSlices", 2, 2, slice_attr_defs({required_int("rank")}), infer_assign_slots);
  return op;
}
const OpDef& has_whole_slots_op() {
  static const OpDef op = shard_op("HasWholeSlots", 0, 0, {variables_attr()}, infer_has_whole);
  return op;
}

std::span<const OpDef* const> sliced_ops() {
  static const std::array all = {&cut_slices_op(),         &count_not_finite_slices_op(),
                                 &update_slices_op(),      &assign_slices_op(),
                                 &read_slot_slices_op(),   &divide_slots_op(),
                                 &assign_slot_slices_op(), &has_whole_slots_op()};
  return all;
}

ShardedOptimizer sharded_optimizer(const GraphDef& graph) {
  ShardedOptimizer all;
  for (const Node& node : graph.nodes) {
    if (node.op != &update_slices_op()) continue;
    const SlicedVariables some = sliced_variables(node);
    all.tasks = words_of(attr<std::string>(node, "ranks"));
    all.rank = static_cast<int>(attr<std::int64_t>(node, "rank"));
    all.sliced.ranks = some.ranks;
    all.sliced.variables.insert(all.sliced.variables.end(), some.variables.begin(),
                                some.variables.end());
    all.sliced.borders.insert(all.sliced.borders.end(), some.borders.begin(), some.borders.end());
  }
  return all;
}

}  // namespace actorflow

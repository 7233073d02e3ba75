#include "dataflow/ops/collective_shapes.h"

#include <algorithm>
#include <sstream>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/op_attrs.h"
#include "dataflow/ops/collective_ops.h"

namespace actorflow {
namespace {

std::int64_t expect_ranks(const InferContext& c) {
  if (c.attr<std::string>("collective").empty()) c.fail("the name of a collective operation", "''");
  std::istringstream words(c.attr<std::string>("ranks"));
  std::int64_t count = 0;
  for (std::string task; words >> task; ++count) try {
      TaskName::parse(task);
    } catch (const Error& error) {
      c.fail("the tasks of the ranks", error.what());
    }
  if (count == 0) c.fail("the tasks of the ranks", "none");
  try {
    parse_life(c.attr<std::string>("life"));
  } catch (const Error& error) {
    c.fail("a life of the group", error.what());
  }
  return count;
}

void expect_reduction(const InferContext& c) {
  try {
    CollectiveCall call{.dtype = c.input(0).dtype,
                        .reduction = parse_reduction(c.attr<std::string>("reduction")),
                        .prescale = c.attr<double>("prescale"),
                        .postscale = c.attr<double>("postscale"),
                        .compression = parse_compression(c.attr<std::string>("compression"))};
    check_call(call, static_cast<int>(expect_ranks(c)));
  } catch (const Error& error) {
    c.fail("a reduction", error.what());
  }
}

// The type with another number of rows.
void add_rows_output(InferContext& c) {
  const TensorType& type = c.input(0);
  Shape shape = type.shape;
  if (shape.has_rank() && shape.rank() == 0) c.fail("1 dimension or more", type.to_string());
  if (shape.has_rank()) shape.set(0, Shape::unknown);
  c.add_output(type.dtype, shape);
}

void expect_rows(const InferContext& c, int input, std::int64_t ranks) {
  c.expect_dtype(input, DType::int64);
  if (!c.input(input).shape.compatible_with({ranks}))
    c.fail("an int64 for each of " + std::to_string(ranks) + " ranks", c.input(input).to_string());
}

}  // namespace

void infer_all_reduce(InferContext& c) {
  const std::int64_t ranks = expect_ranks(c);
  expect_reduction(c);
  if (c.attr<std::int64_t>("only_on") >= ranks)
    c.fail("a rank", std::to_string(c.attr<std::int64_t>("only_on")));
  for (int i = 0; i < c.inputs(); ++i) {
    c.expect_dtype(i, c.input(0).dtype);
    c.add_output(c.input(i).dtype, c.input(i).shape);
  }
}

void infer_broadcast(InferContext& c) {
  const std::int64_t ranks = expect_ranks(c), root = c.attr<std::int64_t>("root");
  if (root < 0 || root >= ranks)
    c.fail("a root from 0 to " + std::to_string(ranks - 1), std::to_string(root));
  infer_same(c);
}

void infer_all_gather(InferContext& c) {
  const std::int64_t ranks = expect_ranks(c);
  add_rows_output(c);
  c.add_output(DType::int64, {ranks});
}

void infer_reduce_scatter(InferContext& c) {
  const std::int64_t ranks = expect_ranks(c);
  expect_reduction(c);
  if (c.inputs() == 2) expect_rows(c, 1, ranks);
  add_rows_output(c);
}

void infer_grouped_reduce_scatter(InferContext& c) {
  const std::int64_t ranks = expect_ranks(c);
  expect_reduction(c);
  const auto& elements = c.attr<std::vector<std::int64_t>>("elements");
  std::int64_t wanted = 0, there = 0;
  for (const auto count : elements) wanted += count;
  bool known = true;
  for (int i = 0; i < c.inputs(); ++i) {
    c.expect_dtype(i, c.input(0).dtype);
    known = known && c.input(i).shape.fully_known();
    if (known) there += c.input(i).shape.elements();
  }
  if (std::ssize(elements) != ranks || std::ranges::any_of(elements, [](auto n) { return n < 0; }))
    c.fail("the elements of each of " + std::to_string(ranks) + " ranks, 0 or more",
           std::to_string(elements.size()) + " numbers");
  if (known && there != wanted)
    c.fail("ranks that together get the " + std::to_string(there) + " elements that there are",
           std::to_string(wanted));
  c.add_output(c.input(0).dtype, {Shape::unknown});
}

void infer_barrier(InferContext& c) { expect_ranks(c); }

void infer_waits(InferContext& c) { c.add_output(DType::string, {Shape::unknown}); }

void infer_join(InferContext& c) {
  expect_ranks(c);
  c.add_output(DType::int64, {});
}

void infer_all_to_all(InferContext& c) {
  const std::int64_t ranks = expect_ranks(c);
  expect_rows(c, 1, ranks);
  add_rows_output(c);
  c.add_output(DType::int64, {ranks});
}

}  // namespace actorflow

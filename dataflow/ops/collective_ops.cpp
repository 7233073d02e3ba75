#include "dataflow/ops/collective_ops.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/op_attrs.h"

namespace actorflow {
namespace {

constexpr std::array<std::string_view, 3> lives{"any", "begins", "continues"};

std::vector<AttrDef> attrs_with(const std::vector<AttrDef>& more) {
  return std::vector{required_text("ranks"), required_text("collective"),
                     AttrDef{"life", std::string("any")}} +
         more;
}

std::vector<AttrDef> reduce_attrs(const std::vector<AttrDef>& more = {}) {
  return attrs_with({AttrDef{"reduction", std::string("sum")}, AttrDef{"prescale", 1.0},
                     AttrDef{"postscale", 1.0}, AttrDef{"compression", std::string("none")}}) +
         more;
}

// ---- Shape functions.

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

// ---- Gradients. Each is a collective operation of its own, on the task of the forward node.

Output add_back(GradientContext& c, const OpDef& op, const std::vector<Output>& inputs, Attrs attrs) {
  attrs["ranks"] = c.attr<std::string>("ranks");
  attrs["collective"] = c.attr<std::string>("collective") + "/gradient";
  attrs["life"] = c.attr<std::string>("life");
  return c.graph().on(c.node().device, [&] {
    return c.graph().add(op, inputs, std::move(attrs), c.node().name + "_gradient");
  });
}

Attrs reduction_back(GradientContext& c) {
  const auto& reduction = c.attr<std::string>("reduction");
  if (reduction != "sum" && reduction != "average")
    throw Error(Code::unimplemented,
                "node '" + c.node().name +
                    "': only a sum and an average of ranks have a gradient, not a " + reduction);
  return {{"reduction", reduction},
          {"prescale", c.attr<double>("prescale")},
          {"postscale", c.attr<double>("postscale")},
          {"compression", c.attr<std::string>("compression")}};
}

// Of those outputs through which something flows back; they are the same on every rank.
std::vector<Output> all_reduce_gradient(GradientContext& c) {
  std::vector<Output> flowing, gradients(c.node().inputs.size());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (const Output gradient = c.gradient(static_cast<int>(i))) {
      flowing.push_back(gradient);
      places.push_back(i);
    }
  const Output back = add_back(c, all_reduce_op(), flowing, reduction_back(c));
  for (std::size_t i = 0; i < places.size(); ++i)
    gradients[places[i]] = back.output(static_cast<int>(i));
  return gradients;
}

// Each rank's rows, of the sum of what all ranks say about them.
std::vector<Output> all_gather_gradient(GradientContext& c) {
  return {add_back(c, reduce_scatter_op(), {c.gradient(), c.output(1)},
                   {{"prescale", c.attr<double>("scale")}})};
}

std::vector<Output> broadcast_gradient(GradientContext& c) {
  return {add_back(c, all_reduce_op(), {c.gradient()}, {{"only_on", c.attr<std::int64_t>("root")}})};
}

std::vector<Output> reduce_scatter_gradient(GradientContext& c) {
  const Attrs back = reduction_back(c);
  double scale = c.attr<double>("prescale") * c.attr<double>("postscale");
  if (c.attr<std::string>("reduction") == "average")
    scale /= static_cast<double>(ranks_of(c.node()).size());
  std::vector<Output> gradients{add_back(c, all_gather_op(), {c.gradient()}, {{"scale", scale}})};
  gradients.resize(c.node().inputs.size());
  return gradients;
}

std::vector<Output> all_to_all_gradient(GradientContext& c) {
  return {add_back(c, all_to_all_op(), {c.gradient(), c.output(1)}, {}), {}};
}

OpDef collective_op(std::string_view name, int inputs, std::vector<AttrDef> attrs,
                    void (*infer)(InferContext&), std::vector<Output> (*gradient)(GradientContext&)) {
  return {.name = name,
          .min_inputs = inputs,
          .max_inputs = inputs,
          .attrs = std::move(attrs),
          .infer = infer,
          .gradient = gradient,
          .dispatch = Dispatch::collective,
          .stateful = true};
}

Output add(Graph& graph, const OpDef& op, const std::vector<Output>& inputs, const RankList& ranks,
           const std::string& name, Attrs attrs) {
  std::string tasks;
  for (const auto& task : ranks.tasks) tasks += (tasks.empty() ? "" : " ") + task;
  attrs["ranks"] = tasks;
  attrs["collective"] = name;
  attrs["life"] = std::string(to_string(ranks.life));
  return graph.add(op, inputs, std::move(attrs), name + "/" + std::string(op.name));
}

Output add(const OpDef& op, const std::vector<Output>& inputs, const RankList& ranks,
           const std::string& name, Attrs attrs) {
  return add(*inputs.at(0).graph, op, inputs, ranks, name, std::move(attrs));
}

Attrs reduce_values(const GraphReduce& how) {
  return {{"reduction", std::string(to_string(how.reduction))},
          {"prescale", how.prescale},
          {"postscale", how.postscale},
          {"compression", std::string(to_string(how.compression))}};
}

}  // namespace

Output all_reduce(const Output& value, const RankList& ranks, const std::string& name,
                  const GraphReduce& how) {
  return add(all_reduce_op(), {value}, ranks, name, reduce_values(how));
}
std::vector<Output> grouped_all_reduce(const std::vector<Output>& values, const RankList& ranks,
                                       const std::string& name, const GraphReduce& how) {
  return outputs_of(add(all_reduce_op(), values, ranks, name, reduce_values(how)));
}
Output all_gather(const Output& value, const RankList& ranks, const std::string& name) {
  return add(all_gather_op(), {value}, ranks, name, {});
}
Output broadcast(const Output& value, const RankList& ranks, int root, const std::string& name) {
  return add(broadcast_op(), {value}, ranks, name, {{"root", std::int64_t{root}}});
}
Output reduce_scatter(const Output& value, const RankList& ranks, const std::string& name,
                      const GraphReduce& how) {
  return add(reduce_scatter_op(), {value}, ranks, name, reduce_values(how));
}
Output grouped_reduce_scatter(const std::vector<Output>& values, const RankList& ranks,
                              const std::vector<std::int64_t>& elements, const std::string& name,
                              const GraphReduce& how) {
  Attrs attrs = reduce_values(how);
  attrs["elements"] = elements;
  return add(grouped_reduce_scatter_op(), values, ranks, name, std::move(attrs));
}
Output all_to_all(const Output& value, const Output& splits, const RankList& ranks,
                  const std::string& name) {
  return add(all_to_all_op(), {value, splits}, ranks, name, {});
}
Output barrier(Graph& graph, const RankList& ranks, const std::string& name) {
  return add(graph, barrier_op(), {}, ranks, name, {});
}
Output join(Graph& graph, const RankList& ranks, const std::string& name) {
  return add(graph, join_op(), {}, ranks, name, {});
}
Output collective_waits(Graph& graph) { return graph.add(collective_waits_op()); }

std::string_view to_string(GroupLife life) { return lives.at(static_cast<std::size_t>(life)); }

GroupLife parse_life(std::string_view name) {
  const auto found = std::ranges::find(lives, name);
  if (found == lives.end())
    throw invalid_argument("expected any, begins or continues, got '" + std::string(name) + "'");
  return static_cast<GroupLife>(found - lives.begin());
}

const OpDef& all_reduce_op() {
  static const OpDef op = [] {
    OpDef def = collective_op("AllReduce", 1, reduce_attrs({AttrDef{"only_on", std::int64_t{-1}}}),
                              infer_all_reduce, all_reduce_gradient);
    def.max_inputs = OpDef::any_number;
    return def;
  }();
  return op;
}
const OpDef& all_gather_op() {
  static const OpDef op = collective_op("AllGather", 1, attrs_with({AttrDef{"scale", 1.0}}),
                                        infer_all_gather, all_gather_gradient);
  return op;
}
const OpDef& broadcast_op() {
  static const OpDef op = collective_op("Broadcast", 1, attrs_with({required_int("root")}),
                                        infer_broadcast, broadcast_gradient);
  return op;
}
const OpDef& reduce_scatter_op() {
  static const OpDef op = [] {
    OpDef def =
        collective_op("ReduceScatter", 1, reduce_attrs(), infer_reduce_scatter, reduce_scatter_gradient);
    def.max_inputs = 2;
    return def;
  }();
  return op;
}
const OpDef& grouped_reduce_scatter_op() {
  static const OpDef op = [] {
    OpDef def = collective_op("GroupedReduceScatter", 1,
                              reduce_attrs({required("elements", std::vector<std::int64_t>())}),
                              infer_grouped_reduce_scatter, nullptr);
    def.max_inputs = OpDef::any_number;
    return def;
  }();
  return op;
}
const OpDef& all_to_all_op() {
  static const OpDef op =
      collective_op("AllToAll", 2, attrs_with({}), infer_all_to_all, all_to_all_gradient);
  return op;
}
const OpDef& barrier_op() {
  static const OpDef op = collective_op("Barrier", 0, attrs_with({}), infer_barrier, nullptr);
  return op;
}
const OpDef& collective_waits_op() {
  static const OpDef op = collective_op("CollectiveWaits", 0, {}, infer_waits, nullptr);
  return op;
}
const OpDef& join_op() {
  static const OpDef op = collective_op("Join", 0, attrs_with({}), infer_join, nullptr);
  return op;
}

std::span<const OpDef* const> collective_ops() {
  static const std::array<const OpDef*, 9> ops{&all_reduce_op(),
                                               &all_gather_op(),
                                               &broadcast_op(),
                                               &reduce_scatter_op(),
                                               &grouped_reduce_scatter_op(),
                                               &all_to_all_op(),
                                               &barrier_op(),
                                               &join_op(),
                                               &collective_waits_op()};
  return ops;
}

std::vector<std::string> ranks_of(const Node& node) {
  std::istringstream words(attr<std::string>(node, "ranks"));
  std::vector<std::string> tasks;
  for (std::string task; words >> task;) tasks.push_back(std::move(task));
  return tasks;
}

GroupLife life_of(const Node& node) { return parse_life(attr<std::string>(node, "life")); }

}  // namespace actorflow

#include "dataflow/ops/collective_ops.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/op_attrs.h"
#include "dataflow/ops/collective_shapes.h"

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

// Gradients. Each is a collective operation of its own, on the task of the forward node.

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

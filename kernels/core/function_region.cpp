#include "kernels/core/function_region.h"

#include <algorithm>
#include <string>

#include "dataflow/graph/core_ops.h"
#include "dataflow/transform/optimise.h"
#include "dataflow/transform/step_graph.h"
#include "dataflow/values/error.h"
#include "kernels/core/evaluate.h"
#include "kernels/core/fusions.h"

namespace actorflow {
namespace {

std::int64_t index_of(const Node& node) { return attr<std::int64_t>(node, "index"); }

void expect_pure(const Node& node) {
  if (!node.op->is_pure() && node.op != &arg_op())
    throw invalid_argument("node '" + node.name + "' (" + std::string(node.op->name) +
                           ") has an effect or needs a session: it is no part of a function");
}

// The order of the nodes: the Args first, in their order, then the others; and the Retvals in their
// order.
struct Order {
  std::vector<NodeId> body, retvals;

  explicit Order(const GraphDef& step) {
    for (NodeId id = 0; id < step.size(); ++id) {
      if (step.node(id).op != &retval_op()) expect_pure(step.node(id));
      (step.node(id).op == &retval_op() ? retvals : body).push_back(id);
    }
    const auto place = [&step](NodeId id) {
      const Node& node = step.node(id);
      return node.op == &arg_op() ? index_of(node) : std::int64_t{1} << 40;
    };
    std::ranges::stable_sort(body, {}, place);
    std::ranges::sort(retvals, {}, [&step](NodeId id) { return index_of(step.node(id)); });
  }
};

// Of a step without targets.
FunctionRegion region_of(const GraphDef& step) {
  const Order order(step);
  std::vector<NodeId> new_id(step.nodes.size(), -1);
  FunctionRegion result;
  auto& body = result.region.body;
  const auto moved = [&new_id](Edge edge) {
    return Edge{new_id[static_cast<std::size_t>(edge.node)], edge.output};
  };
  for (const NodeId id : order.body) {
    new_id[static_cast<std::size_t>(id)] = body.size();
    Node node = step.node(id);
    node.controls.clear();
    std::ranges::transform(node.inputs, node.inputs.begin(), moved);
    if (node.op == &arg_op()) result.inputs.push_back(static_cast<std::size_t>(index_of(node)));
    body.nodes.push_back(std::move(node));
  }
  for (const NodeId id : order.retvals) result.region.outputs.push_back(moved(step.node(id).inputs[0]));
  return result;
}

}  // namespace

FunctionRegion function_region(const GraphDef& graph, const std::vector<Edge>& inputs,
                               const std::vector<Edge>& outputs) {
  return region_of(make_step(graph, inputs, outputs, {}).graph);
}

FunctionRegion simplified_function_region(const GraphDef& graph, const std::vector<Edge>& inputs,
                                          const std::vector<Edge>& outputs, const OpLibrary& ops,
                                          DeviceType device) {
  const GraphDef simple = optimise(make_step(graph, inputs, outputs, {}),
                                   [&ops](const Node& node, const std::vector<Tensor>& in) {
                                     return evaluate_on_cpu(ops, node, in);
                                   });
  const auto can_run = [&](const OpDef& op, const std::string&) { return ops.has_kernel(op, device); };
  return region_of(fuse(simple, builtin_fusions(), can_run).graph);
}

}  // namespace actorflow

#include "actors/master/step_plan.h"

#include <charconv>
#include <string>
#include <utility>

#include "actors/master/begun_ahead.h"
#include "actors/master/capturing.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/transform/fuse.h"
#include "dataflow/transform/gather_variables.h"
#include "dataflow/transform/late_waits.h"
#include "dataflow/transform/optimise.h"
#include "dataflow/transform/partition.h"
#include "dataflow/transform/place.h"
#include "dataflow/transform/step_graph.h"
#include "kernels/core/evaluate.h"
#include "kernels/core/fusions.h"

namespace actorflow {
namespace {

StepGraph cut_out(const GraphDef& graph, const StepKind& kind) {
  std::vector<Edge> feeds, fetches;
  std::vector<NodeId> targets;
  for (const auto& name : kind.feeds) feeds.push_back(find_edge(graph, name));
  for (const auto& name : kind.fetches) fetches.push_back(find_edge(graph, name));
  for (const auto& name : kind.targets) targets.push_back(graph.find(name));
  return make_step(graph, feeds, fetches, targets);
}

bool has_kernel(const TaskContext& task, const OpDef& op, std::string_view device_type) {
  return op.dispatch != Dispatch::kernel ||
         task.ops->has_kernel(op, device_type == "GPU" ? DeviceType::cuda : DeviceType::cpu);
}

}  // namespace

Edge find_edge(const GraphDef& graph, const std::string& name) {
  const auto colon = name.rfind(':');
  Edge edge{graph.find(std::string_view(name).substr(0, colon)), 0};
  if (colon != std::string::npos) {
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + colon + 1, end, edge.output);
    if (error != std::errc() || rest != end)
      throw invalid_argument("'" + name +
                             "' is not the name of a tensor; expected 'node' or 'node:output'");
  }
  const auto outputs = graph.node(edge.node).outputs.size();
  if (edge.output < 0 || static_cast<std::size_t>(edge.output) >= outputs)
    throw invalid_argument("'" + name + "' does not exist: the node has " + std::to_string(outputs) +
                           " outputs");
  return edge;
}

StepKind take_kind(RunStep& step) {
  StepKind kind{{}, std::move(step.fetches), std::move(step.targets)};
  for (auto& feed : step.feeds) kind.feeds.push_back(std::move(feed.first));
  return kind;
}

std::string signature(const StepKind& kind) {
  std::string text;
  for (const auto* names : {&kind.feeds, &kind.fetches, &kind.targets}) {
    for (const auto& name : *names) text += std::to_string(name.size()) + ':' + name;
    text += '|';
  }
  return text;
}

std::vector<TensorType> feed_types(const GraphDef& graph, const StepKind& kind) {
  std::vector<TensorType> types;
  for (const auto& name : kind.feeds) types.push_back(graph.type(find_edge(graph, name)));
  return types;
}

GraphDef simplify_step(const GraphDef& graph, const StepKind& kind, const TaskContext& task) {
  StepGraph step = cut_out(graph, kind);
  gather_variables(step);
  return optimise(std::move(step), [&task](const Node& node, const std::vector<Tensor>& inputs) {
    return evaluate_on_cpu(*task.ops, node, inputs);
  });
}

void place_step(GraphDef& graph, const PlacementRules& rules, const TaskContext& task) {
  PlaceOptions options;
  options.soft_placement = rules.soft_placement;
  options.has_kernel = [&task](const OpDef& op, std::string_view type) {
    return has_kernel(task, op, type);
  };
  const DeviceName default_device{task.self.name.job, 0, task.self.name.index, "CPU", 0};
  place(graph, rules.devices, default_device, options);
}

std::vector<PlannedPart> cut_step(const GraphDef& placed, const TaskContext& task) {
  const auto can_run = [&task](const OpDef& op, const std::string& device) {
    return has_kernel(task, op, DeviceName::parse(device).type.value_or(""));
  };
  std::vector<PlannedPart> parts;
  const GraphDef fused = without_late_waits(fuse(placed, builtin_fusions(), can_run).graph);
  const auto ahead = tasks_that_begin_ahead(fused, task);
  const auto capturing = tasks_that_may_capture(fused);
  for (auto& [name, part] : partition(fused)) {
    PlannedPart planned{
        task.id_of(name), std::move(part), {}, ahead.contains(name), capturing.contains(name)};
    for (const Node& node : planned.graph.nodes)
      if (node.op == &arg_op())
        planned.args.push_back(static_cast<std::int32_t>(attr<std::int64_t>(node, "index")));
    parts.push_back(std::move(planned));
  }
  return parts;
}

}  // namespace actorflow

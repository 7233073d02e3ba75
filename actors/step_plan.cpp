#include "actors/step_plan.h"

#include <charconv>

#include "dataflow/core_ops.h"
#include "dataflow/fuse.h"
#include "dataflow/optimise.h"
#include "dataflow/partition.h"
#include "dataflow/place.h"
#include "dataflow/step_graph.h"
#include "kernels/fusions.h"

namespace actorflow {
namespace {

std::vector<Tensor> evaluate_on_cpu(const TaskContext& task, const Node& node,
                                    std::vector<Tensor> inputs) {
  std::vector<Tensor> outputs(node.outputs.size());
  OpContext context(node, cpu_device(), inputs, outputs);
  task.ops->make(node, DeviceType::cpu)->compute(context);
  return outputs;
}

StepGraph cut_out(const GraphDef& graph, const RunStep& step) {
  std::vector<Edge> feeds, fetches;
  std::vector<NodeId> targets;
  for (const auto& [name, value] : step.feeds) {
    feeds.push_back(find_edge(graph, name));
    const TensorType& type = graph.type(feeds.back());
    if (value.dtype() != type.dtype || !type.shape.compatible_with(value.shape()))
      throw invalid_argument("tensor '" + name + "' must be fed " + type.to_string() + ", but got " +
                             value.describe());
  }
  for (const auto& name : step.fetches) fetches.push_back(find_edge(graph, name));
  for (const auto& name : step.targets) targets.push_back(graph.find(name));
  return make_step(graph, feeds, fetches, targets);
}

PlaceOptions place_options(const TaskContext& task) {
  PlaceOptions options;
  options.soft_placement = true;
  options.has_kernel = [&task](const OpDef& op, std::string_view type) {
    return op.home != Home::kernel ||
           task.ops->has_kernel(op, type == "GPU" ? DeviceType::cuda : DeviceType::cpu);
  };
  return options;
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

std::string signature(const RunStep& step) {
  std::string text;
  for (const auto& feed : step.feeds) text += feed.first + ',';
  for (const auto& name : step.fetches) (text += '|') += name;
  for (const auto& name : step.targets) (text += '>') += name;
  return text;
}

std::vector<DeviceName> known_devices(const TaskContext& task) {
  std::vector<DeviceName> names;
  for (std::size_t i = 0; i < task.tasks.size(); ++i) {
    DeviceName name{task.tasks[i].job, 0, task.tasks[i].index, "CPU", 0};
    names.push_back(name);
    if (static_cast<TaskId>(i) != task.own) continue;
    name.type = "GPU";
    for (const Device* device : task.devices)
      if (device->type() == DeviceType::cuda) {
        name.index = device->index();
        names.push_back(name);
      }
  }
  return names;
}

std::vector<PlannedPart> plan_step(const GraphDef& graph, const RunStep& step, const TaskContext& task) {
  const auto evaluate = [&task](const Node& node, const std::vector<Tensor>& inputs) {
    return evaluate_on_cpu(task, node, inputs);
  };
  GraphDef optimised = optimise(cut_out(graph, step), evaluate);
  const DeviceName home{task.self.name.job, 0, task.self.name.index, "CPU", 0};
  const PlaceOptions options = place_options(task);
  place(optimised, known_devices(task), home, options);
  const auto can_run = [&options](const OpDef& op, const std::string& device) {
    return options.has_kernel(op, DeviceName::parse(device).type.value_or(""));
  };
  std::vector<PlannedPart> parts;
  for (auto& [name, part] : partition(fuse(optimised, builtin_fusions(), can_run).graph)) {
    PlannedPart planned{task.id_of(name), std::move(part), {}};
    for (const Node& node : planned.graph.nodes)
      if (node.op == &arg_op())
        planned.args.push_back(static_cast<std::int32_t>(attr<std::int64_t>(node, "index")));
    parts.push_back(std::move(planned));
  }
  return parts;
}

}  // namespace actorflow

#include "dataflow/transform/place.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "dataflow/graph/containers.h"
#include "dataflow/graph/state_ops.h"

namespace actorflow {
namespace {

constexpr std::size_t max_listed_devices = 32;

bool same_task(const DeviceName& a, const DeviceName& b) {
  return a.job == b.job && a.replica == b.replica && a.task == b.task;
}

std::string device_list(const std::vector<DeviceName>& devices) {
  std::string list;
  for (std::size_t i = 0; i < std::min(devices.size(), max_listed_devices); ++i)
    list += (i > 0 ? ", " : "") + devices[i].to_string();
  if (devices.size() > max_listed_devices)
    list += " and " + std::to_string(devices.size() - max_listed_devices) + " more";
  return devices.empty() ? "none" : list;
}

class Placer {
 public:
  Placer(GraphDef& graph, const std::vector<DeviceName>& devices, const DeviceName& default_device,
         const PlaceOptions& options)
      : graph_(graph),
        devices_(devices),
        default_(default_device),
        default_task_(task_part(default_device)),
        options_(options) {}

  void run() {
    find_leaders();
    for (const auto& entry : leaders_)
      place_node(*entry.second, DeviceName::parse(entry.second->device));
    for (auto& node : graph_.nodes)
      if (!is_leader(node)) place_node(node, wanted_device(node));
    if (!mistakes_.empty())
      throw invalid_argument(mistakes_ + "known devices: " + device_list(devices_));
  }

 private:
  // The nodes that decide where a variable is.
  void find_leaders() {
    for (auto& node : graph_.nodes)
      if (node.op == &read_variable_op()) leaders_.try_emplace(*named_state(node), &node);
    for (auto& node : graph_.nodes)
      if (const auto* variable = named_state(node)) leaders_.try_emplace(*variable, &node);
  }

  bool is_leader(const Node& node) const {
    const auto* variable = named_state(node);
    return variable && leaders_.at(*variable) == &node;
  }

  // What the node asks for, with the task of its variable where it leaves the task open.
  DeviceName wanted_device(const Node& node) const {
    const DeviceName wanted = DeviceName::parse(node.device);
    const auto* variable = named_state(node);
    if (!variable || wanted.task) return wanted;
    const auto beside = task_part(DeviceName::parse(leaders_.at(*variable)->device));
    const auto merged = DeviceName::merge(beside, wanted);
    return same_task(merged, beside) ? merged : wanted;
  }

  void place_node(Node& node, const DeviceName& asked_for) {
    const DeviceName wanted =
        names_no_task(asked_for) ? DeviceName::merge(default_task_, asked_for) : asked_for;
    if (const auto* device = choose(*node.op, wanted)) {
      node.device = device->to_string();
      return;
    }
    const auto matching = [&](const DeviceName& device) { return wanted.matches(device); };
    const bool exists = std::ranges::any_of(devices_, matching);
    mistakes_ += "node '" + node.name + "' (" + std::string(node.op->name) +
                 "): " + (exists ? "its op has no kernel for '" : "there is no device '") +
                 wanted.to_string() + "'\n";
  }

  const DeviceName* choose(const OpDef& op, const DeviceName& wanted) const {
    if (const auto* device = best(op, wanted)) return device;
    if (!options_.soft_placement) return nullptr;
    DeviceName relaxed = wanted;
    relaxed.type = "CPU";
    relaxed.index.reset();
    return best(op, relaxed);
  }

  // The first of the most preferred devices; null if none matches.
  const DeviceName* best(const OpDef& op, const DeviceName& wanted) const {
    const DeviceName* best_device = nullptr;
    for (const auto& device : devices_) {
      if (!wanted.matches(device) || !can_run(op, device.type.value_or(""))) continue;
      if (!best_device || preference(device) > preference(*best_device)) best_device = &device;
    }
    return best_device;
  }

  bool can_run(const OpDef& op, std::string_view type) const {
    return !options_.has_kernel || options_.has_kernel(op, type);
  }

  std::tuple<bool, bool, bool> preference(const DeviceName& device) const {
    const bool default_type = device.type == default_.type.value_or("CPU");
    return {default_task_.matches(device), default_type, default_type && device.index == default_.index};
  }

  GraphDef& graph_;
  const std::vector<DeviceName>& devices_;
  const DeviceName& default_;
  const DeviceName default_task_;
  const PlaceOptions& options_;
  std::map<std::string, Node*, std::less<>> leaders_;
  std::string mistakes_;
};

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string dot_string(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string dot_edge(const Node& from, const Node& to, const std::string& style) {
  return "  " + dot_string(from.name) + " -> " + dot_string(to.name) + " [" + style + "];\n";
}

}  // namespace

void place(GraphDef& graph, const std::vector<DeviceName>& devices, const DeviceName& default_device,
           const PlaceOptions& options) {
  Placer(graph, devices, default_device, options).run();
}

std::string placement_table(const GraphDef& graph) {
  std::size_t name_width = 0, op_width = 0;
  for (const auto& node : graph.nodes) {
    name_width = std::max(name_width, node.name.size());
    op_width = std::max(op_width, node.op->name.size());
  }
  std::string table;
  for (const auto& node : graph.nodes)
    table += padded(node.name, name_width + 2) + padded(std::string(node.op->name), op_width + 2) +
             node.device + "\n";
  return table;
}

std::string to_dot(const GraphDef& graph) {
  std::map<std::string, std::string> clusters;
  std::string edges;
  for (const auto& node : graph.nodes) {
    auto& cluster = clusters[task_part(DeviceName::parse(node.device)).to_string()];
    cluster += "    " + dot_string(node.name) +
               " [label=" + dot_string(node.name + " (" + std::string(node.op->name) + ")") + "];\n";
    for (const auto& input : node.inputs)
      edges +=
          dot_edge(graph.node(input.node), node, "label=" + dot_string(graph.type(input).to_string()));
    for (auto control : node.controls) edges += dot_edge(graph.node(control), node, "style=dashed");
  }
  std::string dot = "digraph actorflow {\n";
  for (const auto& [task, nodes] : clusters)
    dot += "  subgraph " + dot_string("cluster" + task) + " {\n    label=" + dot_string(task) + ";\n" +
           nodes + "  }\n";
  return dot + edges + "}\n";
}

}  // namespace actorflow

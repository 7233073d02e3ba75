#include "dataflow/graph/graph.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/containers.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

NodeId GraphDef::find(std::string_view name) const {
  std::vector<std::string_view> known;
  for (NodeId id = 0; id < size(); ++id) {
    if (node(id).name == name) return id;
    known.push_back(node(id).name);
  }
  throw Error(Code::not_found, "the graph has no node " + quoted(name) + did_you_mean(name, known));
}

const Node& Output::node() const { return graph->def().node(edge.node); }

const TensorType& Output::type() const {
  const auto& outputs = node().outputs;
  if (edge.output < 0 || edge.output >= static_cast<int>(outputs.size()))
    throw invalid_argument("node " + quoted(name()) + " has " + std::to_string(outputs.size()) +
                           " outputs; there is no output " + std::to_string(edge.output));
  return outputs[static_cast<std::size_t>(edge.output)];
}

const std::string& Variable::name() const { return attr<std::string>(read_.node(), "variable"); }

Output Graph::add(const OpDef& op, const std::vector<Output>& inputs, Attrs attrs,
                  std::string_view name) {
  Node node;
  node.op = &op;
  node.name = scoped(name.empty() ? op.name : name);
  std::vector<TensorType> types;
  for (const auto& input : inputs) {
    check_mine(input);
    node.inputs.push_back(input.edge);
    types.push_back(input.type());
  }
  for (const auto& scope : controls_)
    for (const auto& before : scope) node.controls.push_back(before.edge.node);
  node.attrs = std::move(attrs);
  choose_precision(node);
  infer_node(node, types);
  node.name = unique_name(std::move(node.name));
  choose_device(node);
  def_.nodes.push_back(std::move(node));
  return {this, {def_.size() - 1, 0}};
}

Output Graph::constant(Tensor value, std::string_view name) {
  return add(const_op(), {}, {{"value", std::move(value)}}, name);
}

Output Graph::placeholder(DType dtype, const Shape& shape, std::string_view name) {
  return add(placeholder_op(), {}, {{"dtype", dtype}, {"shape", shape}}, name);
}

Variable Graph::variable(std::string_view name, Output initial, const VariableSlice& slice) {
  if (!initial.shape().fully_known())
    throw invalid_argument("variable '" + std::string(name) +
                           "' needs an initial value of known shape, but '" + initial.name() + "' is " +
                           initial.type().to_string());
  if (!container_of(name).empty())
    throw invalid_argument("the name of variable " + quoted(name) +
                           " contains '|', which ends the name of a container");
  const std::string full = in_container(current_container(), scoped(name));
  for (const auto& other : variables_)
    if (other.name() == full)
      throw Error(Code::already_exists, "the graph already has a variable '" + full + "'");
  Attrs attrs{{"variable", full}, {"dtype", initial.dtype()}, {"shape", initial.shape()}};
  if (!slice.of.empty()) {
    attrs["slice_of"] = in_container(current_container(), scoped(slice.of));
    attrs["slice_shape"] = slice.shape;
    attrs["slice_offset"] = slice.offset;
  }
  const Output read = add(read_variable_op(), {}, std::move(attrs), name);
  // Beside the variable, whatever scope the caller is in: an inner device wins field by field.
  const Output assign = on(read.node().device, [&] {
    return add(assign_variable_op(), {initial}, {{"variable", full}}, std::string(name) + "/assign");
  });
  variables_.emplace_back(read, assign);
  return variables_.back();
}

Output Graph::assign(const Variable& variable, Output value, std::string_view name) {
  return update(assign_variable_op(), variable, value, name);
}

Output Graph::assign_add(const Variable& variable, Output delta, std::string_view name) {
  return update(assign_add_variable_op(), variable, delta, name);
}

Output Graph::update(const OpDef& op, const Variable& variable, Output input, std::string_view name) {
  check_mine(variable);
  check_mine(input);
  if (input.dtype() != variable.type().dtype || !input.shape().compatible_with(variable.type().shape))
    throw invalid_argument("variable " + quoted(variable.name()) + " is " + variable.type().to_string() +
                           ", but '" + input.name() + "' is " + input.type().to_string());
  return on(variable.device(), [&] { return add(op, {input}, {{"variable", variable.name()}}, name); });
}

void Graph::add_control(Output before, Output after) {
  check_mine(before);
  check_mine(after);
  if (before.edge.node >= after.edge.node)
    throw invalid_argument("a control edge must lead forward, but " + quoted(before.name()) +
                           " was not added before " + quoted(after.name()));
  def_.node(after.edge.node).controls.push_back(before.edge.node);
}

Output Graph::group(const std::vector<Output>& outputs, std::string_view name) {
  return after(outputs, [&] { return add(no_op(), {}, {}, name.empty() ? "group" : name); });
}

std::string Graph::scoped(std::string_view name) const {
  return names_.empty() ? std::string(name) : names_.back() + "/" + std::string(name);
}

std::string Graph::unique_name(std::string name) {
  int& uses = names_taken_[name];
  if (uses == 0) {
    uses = 1;
    return name;
  }
  std::string candidate;
  do candidate = name + "_" + std::to_string(uses++);
  while (names_taken_.contains(candidate));
  names_taken_[candidate] = 1;
  return candidate;
}

void Graph::check_container(std::string_view name) { actorflow::check_container(name); }

void Graph::check_mine(const Output& output) const {
  if (output.graph != this)
    throw invalid_argument(output ? "the tensor '" + output.name() + "' belongs to another graph"
                                  : "an empty Output was used as an input");
}

void Graph::choose_precision(Node& node) const {
  if (precisions_.empty()) return;
  const std::string_view name = precision_attr().name;
  if (std::ranges::find(node.op->attrs, name, &AttrDef::name) != node.op->attrs.end())
    node.attrs.emplace(name, std::string(to_string(precisions_.back())));
}

// From the innermost scope outwards, so that a function knows what is left open.
void Graph::choose_device(Node& node) const {
  for (const auto& scope : std::views::reverse(devices_))
    node.device =
        DeviceName::merge(DeviceName::parse(scope(node)), DeviceName::parse(node.device)).to_string();
}

}  // namespace actorflow

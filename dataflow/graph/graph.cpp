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

constexpr std::string_view what_is_empty =
    "an empty Output: a default-constructed one, or what a function left empty; it is no tensor of any "
    "graph. Give it the result of a function that adds to the graph, such as constant() or "
    "placeholder()";

constexpr std::string_view what_has_ended =
    "a tensor whose graph, or GradientTape, has ended; take its value before that, or let the graph "
    "live "
    "longer";

// "cast()" of "actorflow::Output actorflow::cast(actorflow::Output, actorflow::DType)".
std::string short_name(std::string_view function) {
  const auto arguments = function.find('(');
  if (arguments == function.npos) return std::string(function);
  const auto begin = function.find_last_of(": ", arguments);
  const auto first = begin == function.npos ? 0 : begin + 1;
  return std::string(function.substr(first, arguments - first)) + "()";
}

// "node 'x' (MatMul): input 0 of 2".
std::string input_name(const OpDef& op, std::string_view name, std::size_t input, std::size_t inputs) {
  return "node " + quoted(name.empty() ? op.name : name) + " (" + std::string(op.name) + "): input " +
         std::to_string(input) + " of " + std::to_string(inputs);
}

void expect_inputs(const Graph& graph, const OpDef& op, const std::vector<Output>& inputs,
                   std::string_view name) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].graph != &graph || !inputs[i].exists())
      expect_in_graph(graph, inputs[i], input_name(op, name, i, inputs.size()));
}

}  // namespace

GraphPointer::GraphPointer(Graph* graph) {
  if (!graph) return;
  life_ = &graph->life();
  number_ = life_->number();
}

bool operator==(GraphPointer a, const Graph* b) {
  return b ? a.life_ == &b->life() && !a.has_ended() : !a;
}

Graph& GraphPointer::graph() const {
  if (!life_) throw invalid_argument("a function was given " + std::string(what_is_empty));
  if (has_ended())
    throw Error(Code::failed_precondition, "a function was given " + std::string(what_has_ended));
  return life_->graph();
}

NodeId GraphDef::find(std::string_view name) const {
  std::vector<std::string_view> known;
  for (NodeId id = 0; id < size(); ++id) {
    if (node(id).name == name) return id;
    known.push_back(node(id).name);
  }
  throw Error(Code::not_found, "the graph has no node " + quoted(name) + did_you_mean(name, known));
}

bool Output::exists() const {
  return graph && !graph.has_ended() && edge.node >= 0 && edge.node < graph->def().size() &&
         edge.output >= 0;
}

const Node& Output::node(Where where) const {
  if (!graph)
    throw invalid_argument(short_name(where.function_name()) + " was given " +
                           std::string(what_is_empty));
  if (graph.has_ended())
    throw Error(Code::failed_precondition,
                short_name(where.function_name()) + " was given " + std::string(what_has_ended));
  if (!exists())
    throw invalid_argument(short_name(where.function_name()) + " was given output " +
                           std::to_string(edge.output) + " of node number " + std::to_string(edge.node) +
                           ", but the graph has " + std::to_string(graph->def().size()) + " nodes");
  return graph->def().node(edge.node);
}

const TensorType& Output::type(Where where) const {
  const auto& outputs = node(where).outputs;
  if (outputs.empty())
    throw invalid_argument("node " + quoted(name()) +
                           " has no outputs: it has only an effect, or it is of a cond() or "
                           "while_loop(), which returns what is used outside");
  if (edge.output >= static_cast<int>(outputs.size()))
    throw invalid_argument("node " + quoted(name()) + " has " + std::to_string(outputs.size()) +
                           " outputs; there is no output " + std::to_string(edge.output));
  return outputs[static_cast<std::size_t>(edge.output)];
}

void expect_in_graph(const Graph& graph, const Output& output, std::string_view what) {
  const std::string named(what);
  if (!output) throw invalid_argument(named + " is " + std::string(what_is_empty));
  if (output.graph.has_ended())
    throw Error(Code::failed_precondition, named + " is " + std::string(what_has_ended));
  if (output.graph != &graph)
    throw invalid_argument(named + " is the tensor " + quoted(output.name()) +
                           " of another graph; a tensor can be used only in the graph that it was "
                           "added to");
  if (!output.exists()) output.node();  // throws
}

std::vector<Output> outputs_of(const Output& node) {
  std::vector<Output> outputs;
  for (int i = 0; i < static_cast<int>(node.node().outputs.size()); ++i)
    outputs.push_back(node.output(i));
  return outputs;
}

Output add_node(const OpDef& op, const std::vector<Output>& inputs, Attrs attrs, std::string_view name) {
  const auto any = std::ranges::find_if(inputs, &Output::operator bool);
  if (any == inputs.end())
    throw invalid_argument(
        inputs.empty() ? "node " + quoted(name.empty() ? op.name : name) + " (" + std::string(op.name) +
                             "): expected one or more inputs, got none"
                       : input_name(op, name, 0, inputs.size()) + " is " + std::string(what_is_empty));
  return any->graph->add(op, inputs, std::move(attrs), name);
}

const std::string& Variable::name() const { return attr<std::string>(read_.node(), "variable"); }

Output Graph::add(const OpDef& op, const std::vector<Output>& inputs, Attrs attrs,
                  std::string_view name) {
  Node node;
  node.op = &op;
  node.name = scoped(name.empty() ? op.name : name);
  std::vector<TensorType> types;
  expect_inputs(*this, op, inputs, name);
  node.inputs.reserve(inputs.size());
  types.reserve(inputs.size());
  for (const auto& input : inputs) {
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
  if (observer_ && tails_ == 0) observer_->adds(def_.size(), node);
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
  expect_in_graph(*this, initial, "the initial value of variable " + quoted(name));
  if (!initial.shape().fully_known())
    throw invalid_argument("variable '" + std::string(name) +
                           "' needs an initial value of known shape, but '" + initial.name() + "' is " +
                           initial.type().to_string());
  if (!container_of(name).empty())
    throw invalid_argument("the name of variable " + quoted(name) +
                           " contains '|', which ends the name of a container");
  const std::string full = in_container(current_container(), scoped(name));
  if (names_taken_.contains(scoped(name)))  // as by the variable's own node; among many that is rare
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
  expect_in_graph(*this, variable, "the variable to " + std::string(op.name));
  expect_in_graph(*this, input, "the value for variable " + quoted(variable.name()));
  if (input.dtype() != variable.type().dtype || !input.shape().compatible_with(variable.type().shape))
    throw invalid_argument("variable " + quoted(variable.name()) + " is " + variable.type().to_string() +
                           ", but '" + input.name() + "' is " + input.type().to_string());
  return on(variable.device(), [&] { return add(op, {input}, {{"variable", variable.name()}}, name); });
}

void Graph::add_control(Output before, Output after) {
  expect_in_graph(*this, before, "the node before a control edge");
  expect_in_graph(*this, after, "the node behind a control edge");
  if (before.edge.node >= after.edge.node)
    throw invalid_argument("a control edge must lead forward, but " + quoted(before.name()) +
                           " was not added before " + quoted(after.name()));
  def_.node(after.edge.node).controls.push_back(before.edge.node);
}

Output Graph::group(const std::vector<Output>& outputs, std::string_view name) {
  return after(outputs, [&] { return add(no_op(), {}, {}, name.empty() ? "group" : name); });
}

std::vector<Node> Graph::Tail::take() {
  std::vector<Node> taken(nodes().begin(), nodes().end());
  leave_places();
  return taken;
}

// Allocates nothing: a tail may end because there is no memory.
void Graph::Tail::leave_places() noexcept {
  auto& nodes = graph_.def_.nodes;
  for (; first_ < nodes.size(); ++first_) {
    Node& node = nodes[first_];
    node.op = &no_op();
    node.inputs.clear();
    node.controls.clear();
    node.attrs.clear();
    node.device.clear();
    node.outputs.clear();
  }
  graph_.variables_.resize(variables_);
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
  while (!names_taken_.emplace(candidate, 1).second);
  return candidate;
}

void Graph::check_container(std::string_view name) { actorflow::check_container(name); }

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

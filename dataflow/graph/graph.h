// Graphs: the append-only builder that programs write with, and the plain value that travels.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dataflow/graph/graph_life.h"
#include "dataflow/graph/op.h"
#include "dataflow/graph/precision.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

using NodeId = std::int32_t;

// An output of a node, by position.
struct Edge {
  NodeId node = -1;
  int output = 0;

  auto operator<=>(const Edge&) const = default;
};

struct Node {
  std::string name;
  const OpDef* op = nullptr;
  std::vector<Edge> inputs;
  std::vector<NodeId> controls;  // run before this node
  Attrs attrs;
  std::string device;               // "" = anywhere; full or partial, see device_name.h
  std::vector<TensorType> outputs;  // set by the shape function
};

// A graph as a value. Invariant: inputs and controls refer to earlier nodes only, so the order of
// `nodes` is a topological one; names are unique.
struct GraphDef {
  std::vector<Node> nodes;

  const Node& node(NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
  Node& node(NodeId id) { return nodes[static_cast<std::size_t>(id)]; }
  NodeId size() const { return static_cast<NodeId>(nodes.size()); }
  const TensorType& type(Edge edge) const {
    return node(edge.node).outputs[static_cast<std::size_t>(edge.output)];
  }
  // The node of that name. Throws not_found, with the nearest name.
  NodeId find(std::string_view name) const;
};

// Checks the attributes of a node against its op, fills in defaults and runs the shape function.
// Throws invalid_argument naming node, expected and actual.
void infer_node(Node& node, std::span<const TensorType> inputs);
// The types of a node's inputs. REQUIRES: its inputs are earlier nodes of `graph`.
std::vector<TensorType> input_types(const GraphDef& graph, const Node& node);
// Checks and infers every node of a graph that came from elsewhere. Reports all mistakes in one
// invalid_argument: unknown inputs, cycles (a node that is used before it is defined), duplicate names,
// types.
void infer_graph(GraphDef& graph);
// Appends nodes that came from elsewhere; their inputs and controls are positions in the whole graph.
// Reports all mistakes in one invalid_argument, names that the graph already has included, and leaves
// the graph as it was.
void extend_graph(GraphDef& graph, std::vector<Node> nodes);

// The graph of an Output; null in an empty Output. Dereferencing null throws invalid_argument, and
// failed_precondition where the graph has ended.
class GraphPointer {
 public:
  GraphPointer(Graph* graph = nullptr);  // NOLINT: implicit: it stands for a pointer
  Graph* operator->() const { return &graph(); }
  Graph& operator*() const { return graph(); }
  explicit operator bool() const { return life_ != nullptr; }
  bool has_ended() const { return life_ && life_->number() != number_; }
  friend bool operator==(GraphPointer, GraphPointer) = default;
  friend bool operator==(GraphPointer a, const Graph* b);

 private:
  Graph& graph() const;

  const GraphLife* life_ = nullptr;
  std::uint64_t number_ = 0;
};

// A handle on a tensor of a graph under construction; empty by default. The functions of kernels/ops.h
// compute with it. Questions to an empty one throw invalid_argument, naming the function that asked, and
// those to one whose graph has ended failed_precondition.
struct Output {
  using Where = std::source_location;

  GraphPointer graph;
  Edge edge;

  explicit operator bool() const { return bool(graph); }
  // False also where the graph has no such node, or has ended.
  bool exists() const;
  const Node& node(Where where = Where::current()) const;
  const std::string& name(Where where = Where::current()) const { return node(where).name; }
  const TensorType& type(Where where = Where::current()) const;
  DType dtype(Where where = Where::current()) const { return type(where).dtype; }
  const Shape& shape(Where where = Where::current()) const { return type(where).shape; }
  // Another output of the same node.
  Output output(int index) const { return {graph, {edge.node, index}}; }
  // Part `index` along the first axis, as element() of kernels/ops.h gives it; -1 is the last one.
  template <std::integral Index>
  Output operator[](Index index) const {
    return element(*this, index);
  }
};

// Appends a node to the graph of its inputs, as Graph::add() does. Throws invalid_argument that names
// the op and the input if one is empty or of another graph, or if there are none.
Output add_node(const OpDef& op, const std::vector<Output>& inputs, Attrs attrs = {},
                std::string_view name = {});
// All outputs of its node.
std::vector<Output> outputs_of(const Output& node);
// Throws invalid_argument unless the output is a tensor of the graph. `what` names it in the message:
// "fetch 0".
void expect_in_graph(const Graph& graph, const Output& output, std::string_view what);

// A named, mutable tensor that lives in the parameter shard of a task, beyond any step or session.
class Variable {
 public:
  Variable() = default;
  Variable(Output read, Output initializer) : read_(read), initializer_(initializer), value_(read) {}

  // The variable's name on its task, with its container's in front unless that is the default one.
  const std::string& name() const;
  const TensorType& type() const { return read_.type(); }
  // The value at the start of the step, or that of with_value().
  Output value() const { return value_; }
  operator Output() const { return value_; }  // NOLINT: a variable is read wherever a tensor is wanted
  // The same variable, but for its value: a tensor that was assigned to it in the same step.
  Variable with_value(Output value) const {
    Variable later = *this;
    later.value_ = value;
    return later;
  }
  Output initializer() const { return initializer_; }
  const std::string& device() const { return read_.node().device; }

 private:
  Output read_, initializer_, value_;
};

// The place of a variable in a partitioned one (partitioned_variable.h); checkpoints store the whole.
struct VariableSlice {
  std::string of;  // the whole variable's name; "" if there is none
  Shape shape = {};
  std::vector<std::int64_t> offset = {};  // of the part, along each axis of the whole
};

// Chooses a device for a node that is being added; "" leaves it open. The node has its types, and the
// device that inner scopes have chosen, whose fields stay.
using DeviceFunction = std::function<std::string(const Node&)>;

// Is told of each node that a graph is about to take: an eager computation then runs it. Not told of
// those that a Graph::Tail collects.
class GraphObserver {
 public:
  virtual ~GraphObserver() = default;
  // The node is complete, and `id` will be its number. The observer may make the shapes of its outputs
  // more precise. If it throws, the graph does not take the node.
  virtual void adds(NodeId id, Node& node) = 0;
};

// Builds a graph, node by node. Types are checked as nodes are added: a mistake throws invalid_argument
// that names the node, the expected and the actual type. Outputs point to their graph, so it can be
// neither copied nor moved. Not thread-safe.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const GraphLife& life() const { return life_.life(); }
  const GraphDef& def() const { return def_; }

  // At most one, null for none. REQUIRES: it outlives the graph, or is taken away before.
  void set_observer(GraphObserver* observer) { observer_ = observer; }
  GraphObserver* observer() const { return observer_; }

  // Appends a node. An empty name becomes the op's name; a taken one gets a suffix "_1", "_2", ...
  Output add(const OpDef& op, const std::vector<Output>& inputs = {}, Attrs attrs = {},
             std::string_view name = {});

  Output constant(Tensor value, std::string_view name = {});
  template <Element T>
  Output constant(T value, std::string_view name = {}) {
    return constant(Tensor::scalar(std::move(value)), name);
  }
  Output constant(const char* text, std::string_view name = {}) {
    return constant(std::string(text), name);
  }
  // A tensor that every step must feed.
  Output placeholder(DType dtype, const Shape& shape, std::string_view name = {});
  // A variable with the value that its initializer assigns. `initial` needs a fully known shape. The
  // name may not contain '|'.
  Variable variable(std::string_view name, Output initial, const VariableSlice& slice = {});
  const std::vector<Variable>& variables() const { return variables_; }
  // Give a variable a new value, or change it by `delta` (the output is the value after). The nodes are
  // on the variable's device, whatever the scope. The value must have the variable's type.
  Output assign(const Variable& variable, Output value, std::string_view name = {});
  Output assign_add(const Variable& variable, Output delta, std::string_view name = {});

  // Makes `after` run after `before`. REQUIRES: `before` is the earlier node of the two.
  void add_control(Output before, Output after);
  // A node without output that runs after all of these.
  Output group(const std::vector<Output>& outputs, std::string_view name = {});

  // Places everything that `body` adds on the device. Scopes nest: a field that an inner scope names
  // overrides the outer one.
  template <class Body>
  auto on(std::string_view device, Body&& body) {
    return on(DeviceFunction([device = std::string(device)](const Node&) { return device; }),
              std::forward<Body>(body));
  }
  template <class Body>
  auto on(DeviceFunction device, Body&& body) {
    const Scope scope(devices_, std::move(device));
    return std::forward<Body>(body)();
  }
  // Lets the names of all nodes that `body` adds begin with "scope/".
  template <class Body>
  auto name_scope(std::string_view name, Body&& body) {
    const Scope scope(names_, unique_name(scoped(name)));
    return std::forward<Body>(body)();
  }
  // Puts the variables that `body` adds into that container of their task ("" is the default one).
  // Variables of one name in several containers are different ones, and resetting a container removes
  // its variables (containers.h). The innermost scope counts.
  template <class Body>
  auto container(std::string_view name, Body&& body) {
    check_container(name);
    const Scope scope(containers_, std::string(name));
    return std::forward<Body>(body)();
  }
  std::string current_container() const { return containers_.empty() ? "" : containers_.back(); }
  // Sets the precision of the products that `body` adds. The innermost scope counts.
  template <class Body>
  auto precision(Precision of_products, Body&& body) {
    const Scope scope(precisions_, of_products);
    return std::forward<Body>(body)();
  }
  // Makes everything that `body` adds run after `before`.
  template <class Body>
  auto after(const std::vector<Output>& before, Body&& body) {
    for (const auto& output : before) expect_in_graph(*this, output, "a node to run after");
    const Scope scope(controls_, before);
    return std::forward<Body>(body)();
  }

  // Lets what `body` adds run whenever its inputs are there, whatever after() scopes are around.
  template <class Body>
  auto without_controls(Body&& body) {
    const Restored restored(controls_);
    controls_.clear();
    return std::forward<Body>(body)();
  }

  // Names what `body` adds, variables included, as outside of all name_scope()s and container()s.
  template <class Body>
  auto unscoped(Body&& body) {
    const Restored names(names_);
    const Restored containers(containers_);
    names_.clear();
    containers_.clear();
    return std::forward<Body>(body)();
  }

  // True while a Tail collects what is added.
  bool collects() const { return tails_ > 0; }

  // Collects the nodes that are added to a graph during its life, for subgraph.h. At its end it replaces
  // them by nodes without outputs: the numbers of nodes stay taken, so that an Output never comes to
  // mean another tensor.
  class Tail {
   public:
    explicit Tail(Graph& graph)
        : graph_(graph), first_(graph.def_.nodes.size()), variables_(graph.variables_.size()) {
      ++graph_.tails_;
    }
    Tail(const Tail&) = delete;
    Tail& operator=(const Tail&) = delete;
    ~Tail() {
      leave_places();
      --graph_.tails_;
    }

    bool has_variables() const { return graph_.variables_.size() > variables_; }
    std::span<const Node> nodes() const { return std::span(graph_.def_.nodes).subspan(first_); }
    std::vector<Node> take();

   private:
    void leave_places() noexcept;

    Graph& graph_;
    std::size_t first_, variables_;
  };

 private:
  // Restores a value at the end of the scope.
  template <class T>
  struct Restored {
    explicit Restored(T& changed) : value(changed), before(changed) {}
    ~Restored() { value = std::move(before); }
    Restored(const Restored&) = delete;
    Restored& operator=(const Restored&) = delete;
    T& value;
    T before;
  };
  // Pushes a value on a stack for the life of the scope.
  template <class T>
  struct Scope {
    Scope(std::vector<T>& scopes, T value) : stack(scopes) { stack.push_back(std::move(value)); }
    ~Scope() { stack.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    std::vector<T>& stack;
  };

  static void check_container(std::string_view name);
  Output update(const OpDef& op, const Variable& variable, Output input, std::string_view name);
  std::string scoped(std::string_view name) const;
  std::string unique_name(std::string name);
  void choose_device(Node& node) const;
  void choose_precision(Node& node) const;

  const GraphLife::Holder life_{*this};
  GraphDef def_;
  GraphObserver* observer_ = nullptr;
  int tails_ = 0;
  std::unordered_map<std::string, int> names_taken_;
  std::vector<Variable> variables_;
  std::vector<DeviceFunction> devices_;
  std::vector<std::string> names_;
  std::vector<std::string> containers_;
  std::vector<Precision> precisions_;
  std::vector<std::vector<Output>> controls_;
};

// The view of a gradient function: the forward node and the gradients of its outputs.
class GradientContext {
 public:
  GradientContext(Graph& graph, NodeId node, std::vector<Output> output_gradients)
      : graph_(graph), node_(node), output_gradients_(std::move(output_gradients)) {}

  Graph& graph() { return graph_; }
  const Node& node() const { return graph_.def().node(node_); }
  Output input(int i) const { return {&graph_, node().inputs[static_cast<std::size_t>(i)]}; }
  Output output(int i) const { return {&graph_, {node_, i}}; }
  // The gradient of an output; empty if nothing flows back through it.
  Output gradient(int i = 0) const { return output_gradients_[static_cast<std::size_t>(i)]; }
  template <class T>
  const T& attr(std::string_view name) const {
    return actorflow::attr<T>(node(), name);
  }

 private:
  Graph& graph_;
  NodeId node_;
  std::vector<Output> output_gradients_;
};

}  // namespace actorflow

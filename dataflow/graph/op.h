// What an op is, apart from how it is computed: its name, attributes, shape function and gradient.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dataflow/values/dtype.h"
#include "dataflow/values/error.h"
#include "dataflow/values/shape.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

class Graph;
struct Node;
struct Output;
class InferContext;
class GradientContext;

// The type of a tensor in a graph: what is known of it before a step runs.
struct TensorType {
  DType dtype = DType::invalid;
  Shape shape;

  std::string to_string() const;  // "float32[?,10]"
  // Of a tensor of this type. REQUIRES: its shape is fully known.
  std::int64_t bytes() const { return shape.elements() * static_cast<std::int64_t>(size_of(dtype)); }
  bool operator==(const TensorType&) const = default;
};

struct Subgraph;  // subgraph.h
using SubgraphRef = std::shared_ptr<const Subgraph>;

using AttrValue = std::variant<bool, std::int64_t, double, std::string, DType, Shape, Tensor,
                               std::vector<std::int64_t>, std::vector<double>, SubgraphRef>;
using Attrs = std::map<std::string, AttrValue, std::less<>>;

// An attribute of an op. Its kind is the alternative that `example` holds; an optional attribute has
// `example` as its default.
struct AttrDef {
  std::string_view name;
  AttrValue example;
  bool required = false;
  // A string, or a list of them in a tensor, that names state of the node's task: a variable or a queue.
  bool names_state = false;
};

// "int64", "string", ...: the kind of attribute value.
std::string_view kind_of(const AttrValue& value);

// Who does the work of a node when it fires.
enum class Dispatch : std::uint8_t {
  kernel,       // a pure kernel, run by the step's lane or by the node's own actor
  step,         // the step itself: arguments and results
  rendezvous,   // meets tensors of other partitions
  shard,        // the task's parameter shard: variables and their updates
  coordinator,  // the barrier of synchronous training
  queue,        // the task's queues and input iterators
  collective,   // the task's part in operations of several ranks
};

struct OpDef {
  std::string_view name;  // CamelCase
  int min_inputs = 0;
  int max_inputs = 0;  // any_number for no limit
  std::vector<AttrDef> attrs = {};
  // Sets the types of the outputs from those of the inputs; throws invalid_argument through
  // InferContext::fail if they do not fit.
  void (*infer)(InferContext&) = nullptr;
  // One gradient per input (an empty Output where there is none). Null: the op has no gradient and
  // stops it.
  std::vector<Output> (*gradient)(GradientContext&) = nullptr;
  Dispatch dispatch = Dispatch::kernel;
  // Has effects or hidden inputs: never folded, merged or dropped when a target depends on it.
  bool stateful = false;
  // Its kernel reads or makes values on the host. It may then not be part of a CUDA graph, which is
  // captured once and would repeat the values of that time.
  bool needs_host = false;
  // (table, indices) -> rows of the table; slices along another axis where the attribute `axis` says so.
  bool gathers_rows = false;
  // (values [n, ...], indices [n]) -> a tensor that is zero but for these rows. As a gradient it stays
  // row-sparse until somebody needs all of it.
  bool scatters_rows = false;

  // Computes nothing but its outputs, from nothing but its inputs and attributes.
  bool is_pure() const { return dispatch == Dispatch::kernel && !stateful; }

  static constexpr int any_number = 1 << 30;
};

// The view of a shape function: a node and the types of its inputs; it adds those of the outputs.
class InferContext {
 public:
  InferContext(const Node& node, std::span<const TensorType> inputs) : node_(node), inputs_(inputs) {}

  int inputs() const { return static_cast<int>(inputs_.size()); }
  const TensorType& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  template <class T>
  const T& attr(std::string_view name) const;
  void add_output(DType dtype, const Shape& shape) { outputs_.push_back({dtype, shape}); }

  // Throw unless the input has that dtype, or that rank (an unknown rank passes).
  void expect_dtype(int input, DType dtype) const;
  void expect_same_dtype() const;
  void expect_rank(int input, int rank) const;
  // Throws invalid_argument: "node 'dense/matmul' (MatMul): expected ..., got ...".
  [[noreturn]] void fail(const std::string& expected, const std::string& actual) const;

  std::vector<TensorType> take_outputs() { return std::move(outputs_); }

 private:
  const Node& node_;
  std::span<const TensorType> inputs_;
  std::vector<TensorType> outputs_;
};

// The definitions that a program knows, by name. Immutable after construction; thread-safe.
class OpRegistry {
 public:
  // REQUIRES: the definitions outlive the registry. Throws already_exists for two of one name.
  explicit OpRegistry(std::span<const OpDef* const> ops);

  const OpDef* find(std::string_view name) const;  // null if there is none
  // Throws not_found with the nearest known name.
  const OpDef& at(std::string_view name) const;

 private:
  std::map<std::string_view, const OpDef*> ops_;
};

// The value of an attribute. Throws invalid_argument, naming node and attribute, if it is missing or of
// another kind.
const AttrValue& find_attr(const Node& node, std::string_view name);
[[noreturn]] void wrong_attr_kind(const Node& node, std::string_view name, const AttrValue& actual);

template <class T>
const T& attr(const Node& node, std::string_view name) {
  const AttrValue& value = find_attr(node, name);
  if (const T* typed = std::get_if<T>(&value)) return *typed;
  wrong_attr_kind(node, name, value);
}

template <class T>
const T& InferContext::attr(std::string_view name) const {
  return actorflow::attr<T>(node_, name);
}

}  // namespace actorflow

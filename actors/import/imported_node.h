// For translations of ONNX's operators: a node of a model, and the tensors that it takes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"
#include "schema/onnx/onnx.h"

namespace actorflow {

// A tensor of a model. A constant of the model becomes a node of the graph when something first computes
// with it: many constants only say how other nodes work.
struct ImportedTensor {
  Output output{};          // empty: not in the graph yet
  Tensor constant{};        // not valid: it is computed
  Output shape_of{};        // the tensor whose shape this is; empty if it is none
  bool refused = false;     // a node before it cannot be imported
  bool is_further = false;  // a second or later output of its node
};

// Thread-compatible.
class ImportedNode {
 public:
  ImportedNode(Graph& graph, const OnnxNode& node, std::vector<ImportedTensor*> inputs)
      : graph_(graph), node_(node), inputs_(std::move(inputs)) {}

  Graph& graph() const { return graph_; }
  const OnnxNode& node() const { return node_; }
  int inputs() const { return static_cast<int>(inputs_.size()); }
  // An input may be left out, at the end or in the middle.
  bool has(int i) const { return i < inputs() && inputs_[static_cast<std::size_t>(i)]; }
  Output input(int i) const;
  std::vector<Output> all_inputs() const;  // one or more
  // The number of dimensions of an input.
  int rank(int i) const;
  // An axis of an input, counted from the front; a negative one counts from the end. Throws
  // invalid_argument if there is none.
  int axis(std::int64_t axis, int i) const;
  bool is_constant(int i) const { return given(i).constant.valid(); }
  // The input's elements, where the model has them.
  std::vector<std::int64_t> ints(int i) const;
  double number(int i) const;
  bool truth(int i) const;
  // The tensor whose shape the input is, or an empty one.
  Output shape_of(int i) const;

  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, const std::string& otherwise) const;
  std::vector<std::int64_t> ints(std::string_view name, std::vector<std::int64_t> otherwise = {}) const;
  const Tensor* tensor(std::string_view name) const;  // null if the node has none
  // Integers that later operator sets take as input i and earlier ones as an attribute; empty if the
  // node has neither.
  std::vector<std::int64_t> ints(int i, std::string_view name) const;

  // Throws unimplemented: the node cannot be imported, for this reason.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  ImportedTensor& given(int i) const;
  const Tensor& held(int i) const;  // by the model
  template <class T>
  const T* find(std::string_view name) const;

  Graph& graph_;
  const OnnxNode& node_;
  std::vector<ImportedTensor*> inputs_;  // null: left out
};

// The permutation of a node that exchanges dimensions; null for others. Valid until the graph grows.
const std::vector<std::int64_t>* exchange_of(Output x);
// x with its dimensions exchanged. Exchanges that undo each other are left out, so that images change
// their layout only where a model begins and ends with them.
Output exchanged(Output x, const std::vector<std::int64_t>& permutation);
// [batch, channels, height, width] as kernels take it, [batch, height, width, channels], and back.
Output channels_last(Output images);
Output channels_first(Output images);

// Adds what a node computes to the graph; returns its first output.
using OnnxImport = std::function<Output(ImportedNode&)>;
using OnnxImports = std::map<std::string_view, OnnxImport>;

// The translations of a family of operators, by name.
OnnxImports elementwise_imports();
OnnxImports shape_imports();
OnnxImports layer_imports();

}  // namespace actorflow

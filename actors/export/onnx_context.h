// For translations of ops to ONNX: the node, and the model to which a translation adds.
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

// ONNX has no boolean attributes.
inline std::int64_t onnx_bool(bool value) { return value ? 1 : 0; }

// An ONNX model under construction.
class OnnxBuilder {
 public:
  // Adds a node with one output, whose name it returns. Names begin with `name` and are unique.
  std::string add(std::string_view op, const std::vector<std::string>& inputs, OnnxAttrs attrs,
                  const std::string& name);
  // A constant of that value; the same one for each call with the same `key`. Returns its name, which
  // begins with `name`.
  std::string constant(const std::string& key, const std::string& name, const Tensor& value);
  std::string constant(const std::string& name, const Tensor& value) {
    return constant(name, name, value);
  }
  // Keeps a name for an input or output; throws invalid_argument if it is taken.
  void reserve(const std::string& name);
  // Gives a tensor a name that has been reserved for an output.
  void name_output(const std::string& tensor, const std::string& name);

  // Images are [batch, height, width, channels] here and [batch, channels, height, width] in ONNX.
  // Consecutive conversions in opposite directions are left out.
  std::string channels_first(const std::string& images);
  std::string channels_last(const std::string& images);
  // Whether channels_first(images) exists already.
  bool has_channels_first(const std::string& images) const { return first_of_.contains(images); }

  // The model with the nodes and constants that its outputs need.
  OnnxModel finish(OnnxModel model) const;

 private:
  std::string unique(const std::string& name);

  struct Constant {
    std::string name;
    Tensor value;
  };
  std::map<std::string, int> names_;  // taken, with how many derived from each
  std::vector<OnnxNode> nodes_;
  std::map<std::string, Constant> constants_;    // by key
  std::map<std::string, std::string> first_of_;  // channels_first(), by channels_last()
};

// One node that is being translated.
class OnnxContext {
 public:
  // `inputs` are the names of the node's inputs in the model.
  OnnxContext(const GraphDef& graph, const Node& node, std::vector<std::string> inputs,
              OnnxBuilder& builder)
      : graph_(graph), node_(node), inputs_(std::move(inputs)), builder_(builder) {}

  int inputs() const { return static_cast<int>(inputs_.size()); }
  const std::vector<std::string>& input_names() const { return inputs_; }
  const std::string& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  const TensorType& type(int input) const {
    return graph_.type(node_.inputs[static_cast<std::size_t>(input)]);
  }
  const Shape& shape(int input) const { return type(input).shape; }
  DType dtype() const { return node_.outputs.at(0).dtype; }  // of output 0
  // The number of dimensions of an input; throws unimplemented if it is not known.
  int rank(int input) const;
  template <class T>
  const T& attr(std::string_view name) const {
    return actorflow::attr<T>(node_, name);
  }

  std::string add(std::string_view op, const std::vector<std::string>& inputs, OnnxAttrs attrs = {}) {
    return builder_.add(op, inputs, std::move(attrs), node_.name);
  }
  // Constants: a list of integers (int64 [n]); a scalar of a numeric dtype.
  std::string ints(const std::vector<std::int64_t>& values);
  std::string scalar(double value, DType dtype);
  std::string scalar(double value) { return scalar(value, dtype()); }
  OnnxBuilder& builder() { return builder_; }

  // Throws unimplemented: the node cannot be translated, for this reason.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  const GraphDef& graph_;
  const Node& node_;
  const std::vector<std::string> inputs_;
  OnnxBuilder& builder_;
};

// Adds what a node computes to the model; returns the name of output 0.
using OnnxTranslation = std::function<std::string(OnnxContext&)>;
using OnnxTranslations = std::map<std::string_view, OnnxTranslation>;

// The translations of a family of ops, by name.
OnnxTranslations onnx_elementwise_translations();
OnnxTranslations onnx_shape_translations();
OnnxTranslations onnx_layer_translations();
OnnxTranslations onnx_recurrent_translations();

}  // namespace actorflow

// Models in the Open Neural Network Exchange format, which other runtimes load (https://onnx.ai). Plain
// values, and their encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

// The version of the operator set, and that of the file format that belongs to it.
inline constexpr std::int64_t onnx_opset = 17;
inline constexpr std::int64_t onnx_ir_version = 8;

using OnnxAttr = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, Tensor>;
using OnnxAttrs = std::map<std::string, OnnxAttr>;

struct OnnxNode {
  std::string name;
  std::string op;
  std::vector<std::string> inputs, outputs;  // names of tensors
  OnnxAttrs attrs;
};

// An input or output of the model.
struct OnnxValue {
  // A size, or the name of an unknown size: equal names are equal sizes, "" has no name.
  using Dim = std::variant<std::int64_t, std::string>;

  std::string name;
  DType dtype = DType::invalid;
  std::optional<std::vector<Dim>> shape;  // none: of unknown rank
};

// A model. Its nodes are in topological order.
struct OnnxModel {
  std::string name;
  std::vector<OnnxValue> inputs, outputs;
  std::vector<OnnxNode> nodes;
  std::map<std::string, Tensor> initializers;  // constants, on the host
};

// TensorProto's number for a dtype.
int onnx_type(DType dtype);

struct OnnxFiles {
  std::vector<std::byte> model;
  // The parts of the file of weights, one after the other; empty if they are in the model.
  std::vector<std::span<const std::byte>> weights;
};

// The files of a model. Initializers are inside the model if `weights_file` is empty; otherwise those of
// a page (4 KiB) and more are in that file beside it, at multiples of a page. The result refers to the
// tensors' bytes. Throws resource_exhausted if the model is above 2 GiB, the limit of Protocol Buffers.
OnnxFiles encode_onnx(const OnnxModel& model, const std::string& weights_file = {});

}  // namespace actorflow

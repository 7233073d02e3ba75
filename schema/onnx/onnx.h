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

using OnnxAttr = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                              std::vector<std::string>, Tensor>;
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
  std::int64_t opset = onnx_opset;
  std::vector<OnnxValue> inputs, outputs;
  std::vector<OnnxNode> nodes;
  std::map<std::string, Tensor> initializers;  // constants, on the host
};

// TensorProto's number for a dtype.
int onnx_type(DType dtype);
// The dtype of such a number; invalid for one that is not there.
DType onnx_dtype(int type);

struct OnnxFiles {
  std::vector<std::byte> model;
  // The parts of the file of weights, one after the other; empty if they are in the model.
  std::vector<std::span<const std::byte>> weights;
};

// The files of a model. Initializers are inside the model if `weights_file` is empty; otherwise those of
// a page (4 KiB) and more are in that file beside it, at multiples of a page. The result refers to the
// tensors' bytes. Throws resource_exhausted if the model is above 2 GiB, the limit of Protocol Buffers.
OnnxFiles encode_onnx(const OnnxModel& model, const std::string& weights_file = {});

// The files of weights beside a model, by their names.
class OnnxWeights {
 public:
  virtual ~OnnxWeights() = default;
  virtual std::uint64_t size_bytes(const std::string& file) = 0;
  // REQUIRES: the file has these bytes.
  virtual void read(const std::string& file, std::uint64_t offset, std::span<std::byte> into) = 0;
};

// The model in a file, which may come from anywhere. Attributes of other kinds than OnnxAttr's are left
// out; an operator of another domain is "domain.Op". Names of files of weights lead into no other
// folder. Tensors at the same place of such a file share their memory; they do not overlap otherwise.
// Throws data_loss if the bytes are no whole model, unimplemented for a tensor of a dtype or rank that
// is not there, and what `weights` throws.
OnnxModel decode_onnx(std::span<const std::byte> bytes, OnnxWeights& weights);

}  // namespace actorflow

// Signatures: the inputs and outputs of exported models, for programs that serve them.
#pragma once

#include <map>
#include <string>

#include "dataflow/graph/op.h"

namespace actorflow {

// One way to call a model; tensors have their names in its file.
struct ModelSignature {
  std::string model;  // the file's name, in the folder of the signatures
  std::map<std::string, TensorType> inputs, outputs;
};

// JSON: {"signatures": {"serving_default": {"model": "model.onnx", "inputs": {"images": {"dtype":
// "float32", "shape": [null, 784]}}, "outputs": {...}}}}. A dimension of null is unknown; so is the rank
// if the shape is null.
std::string encode_signatures(const std::map<std::string, ModelSignature>& signatures);

}  // namespace actorflow

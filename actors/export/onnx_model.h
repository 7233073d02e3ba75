// From a signature to an ONNX model.
#pragma once

#include <map>
#include <set>
#include <string>

#include "actors/export/onnx_export.h"
#include "schema/onnx/onnx.h"

namespace actorflow {

// The nodes from which the outputs are computed, without those that only compute inputs. Throws
// invalid_argument if the signature is empty or its tensors belong to several graphs.
std::set<NodeId> needed_nodes(const Signature& signature);

// See export_onnx(). `name` is the model's.
OnnxModel make_onnx_model(const std::string& name, const Signature& signature,
                          const std::map<std::string, Tensor>& values);

}  // namespace actorflow

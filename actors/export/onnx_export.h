// Export of trained models as ONNX files, for ONNX Runtime and others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/runtime/storage.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// One way to call a model: the tensors that are fed and fetched, by their names in the file. Any tensor
// may be an input; the nodes that compute it are then left out.
struct Signature {
  std::map<std::string, Output> inputs, outputs;
};
// The customary name of the signature that a server calls.
inline constexpr const char* serving_default = "serving_default";

struct OnnxExportOptions {
  // Weights of more bytes than this are written to a file of their own beside the model.
  std::uint64_t max_model_bytes = std::uint64_t{1} << 30;
};

// The variables that the outputs of the signatures are computed from.
std::vector<std::string> exported_variables(const std::map<std::string, Signature>& signatures);

// Writes a model into `folder` for each signature, with the nodes that its outputs need and the
// variables' values as constants: "model.onnx" for "serving_default", else "<signature>.onnx", and if
// needed "<model>-<checksum>.weights"; and finally "signatures.json" with the inputs and outputs of
// each. Devices are left out. Unknown dimensions stay open; the first one of each input is "batch", the
// same for all.
//
// `values` are the variables', by name. Throws unimplemented with all nodes that ONNX cannot express;
// invalid_argument for an output that depends on something that is neither input nor variable, and for a
// value of another type than its variable; not_found for a variable without a value; and what Storage
// throws.
void export_onnx(Storage& storage, const std::string& folder,
                 const std::map<std::string, Signature>& signatures,
                 const std::map<std::string, Tensor>& values, const OnnxExportOptions& options = {});
// The same with the values that the variables have in the session.
void export_onnx(Storage& storage, const std::string& folder,
                 const std::map<std::string, Signature>& signatures, Session& session,
                 const OnnxExportOptions& options = {});

}  // namespace actorflow

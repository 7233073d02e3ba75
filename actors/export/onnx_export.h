// Trained models for other runtimes: ONNX files that ONNX Runtime, for one, loads and runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/runtime/storage.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// One way to call a model: the tensors that are fed and fetched, by the names that they get. Any tensor
// may be an input; what it is computed from is then left out.
struct Signature {
  std::map<std::string, Output> inputs, outputs;
};
// The customary name of the one that a server calls.
inline constexpr const char* serving_default = "serving_default";

struct OnnxExportOptions {
  // Weights of more bytes than that go into a file of their own beside the model.
  std::uint64_t max_model_bytes = std::uint64_t{1} << 30;
};

// The variables that the outputs of the signatures are computed from.
std::vector<std::string> exported_variables(const std::map<std::string, Signature>& signatures);

// Writes into `folder`, for each signature, a model with what its outputs need and the variables' values
// frozen into it: "model.onnx" for "serving_default", else "<signature>.onnx", and perhaps
// "<model>.weights"; at last "signatures.json", which says what each takes and gives. Devices are left
// out. Dimensions that are not known stay open; the first one of each input is "batch", the same for
// all.
//
// `values` are the variables', by name. Throws unimplemented with all nodes that ONNX has no words for;
// invalid_argument for an output that needs what is neither input nor variable, and for a value that is
// not of its variable's type; not_found for a variable without a value; and what Storage throws.
void export_onnx(Storage& storage, const std::string& folder,
                 const std::map<std::string, Signature>& signatures,
                 const std::map<std::string, Tensor>& values, const OnnxExportOptions& options = {});
// With the values that the variables have in the session.
void export_onnx(Storage& storage, const std::string& folder,
                 const std::map<std::string, Signature>& signatures, Session& session,
                 const OnnxExportOptions& options = {});

}  // namespace actorflow

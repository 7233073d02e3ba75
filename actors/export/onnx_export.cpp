#include "actors/export/onnx_export.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "actors/export/onnx_model.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/values/error.h"
#include "schema/checksum.h"
#include "schema/signatures.h"

namespace actorflow {
namespace {

using Signatures = std::map<std::string, Signature>;

// Checks the names of signatures, which become names of files.
void check_names(const Signatures& signatures) {
  if (signatures.empty()) throw invalid_argument("there is no signature to export");
  for (const auto& entry : signatures) {
    const auto& name = entry.first;
    const bool plain = std::ranges::all_of(name, [](unsigned char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
             c == '-';
    });
    if (name.empty() || name == "model" || !plain)
      throw invalid_argument(fmt::format(
          "a signature's name is of letters, digits, '_' and '-', not 'model'; got '{}'", name));
  }
}

std::string file_stem(const std::string& signature) {
  return signature == serving_default ? "model" : signature;
}

std::map<std::string, TensorType> types_of(const std::map<std::string, Output>& tensors) {
  std::map<std::string, TensorType> types;
  for (const auto& [name, tensor] : tensors) types.emplace(name, tensor.type());
  return types;
}

void write(Storage& storage, const std::string& path,
           std::span<const std::span<const std::byte>> parts) {
  const auto file = storage.create(path);
  for (const auto& part : parts) file->write(part);
  file->commit();
}

// With their checksum: of two exports a crash may leave the model of one and the weights of the other,
// which must not be taken for one model.
std::string name_of_weights(const std::string& stem, std::uint64_t checksum) {
  return fmt::format("{}-{:016x}.weights", stem, checksum);
}

std::uint64_t checksum_of_weights(const OnnxModel& model) {
  Checksum sum;
  for (const auto& [name, tensor] : model.initializers)
    if (tensor.dtype() != DType::string)
      sum.update({static_cast<const std::byte*>(tensor.data()), tensor.size_bytes()});
  return sum.value();
}

// Removes the weights of a model's earlier exports.
void remove_earlier_weights(Storage& storage, const std::string& folder, const std::string& stem,
                            const std::string& present) try {
  const std::string form = name_of_weights(stem, 0);
  for (const auto& name : storage.list(folder))
    if (name != present && name.size() == form.size() && name.starts_with(stem + "-") &&
        name.ends_with(".weights"))
      storage.remove(folder + "/" + name);
} catch (const std::exception& error) {
  spdlog::warn("weights of earlier exports stay in {}: {}", folder, error.what());
}

void write_model(Storage& storage, const std::string& folder, const std::string& stem,
                 const OnnxModel& model, const OnnxExportOptions& options) {
  std::uint64_t weights_bytes = 0;
  for (const auto& entry : model.initializers) weights_bytes += entry.second.size_bytes();
  const bool apart = weights_bytes > options.max_model_bytes;
  const std::string weights = apart ? name_of_weights(stem, checksum_of_weights(model)) : "";
  const auto files = encode_onnx(model, weights);
  if (apart) write(storage, folder + "/" + weights, files.weights);
  storage.write_atomically(fmt::format("{}/{}.onnx", folder, stem), files.model);
  remove_earlier_weights(storage, folder, stem, weights);
}

// The nodes that read variables, by variable.
std::map<std::string, Output> variable_reads(const Signatures& signatures) {
  std::map<std::string, Output> reads;
  for (const auto& entry : signatures) {
    const auto& outputs = entry.second.outputs;
    const GraphPointer graph = outputs.empty() ? GraphPointer() : outputs.begin()->second.graph;
    for (const NodeId id : needed_nodes(entry.second))
      if (const Node& node = graph->def().node(id); node.op == &read_variable_op())
        reads.emplace(attr<std::string>(node, "variable"), Output{graph, {id, 0}});
  }
  return reads;
}

}  // namespace

std::vector<std::string> exported_variables(const Signatures& signatures) {
  std::vector<std::string> names;
  for (const auto& entry : variable_reads(signatures)) names.push_back(entry.first);
  return names;
}

void export_onnx(Storage& storage, const std::string& folder, const Signatures& signatures,
                 const std::map<std::string, Tensor>& values, const OnnxExportOptions& options) {
  expect_path("export_onnx", folder);
  check_names(signatures);
  std::map<std::string, ModelSignature> described;
  for (const auto& [name, signature] : signatures) {
    const std::string stem = file_stem(name);
    write_model(storage, folder, stem, make_onnx_model(name, signature, values), options);
    described[name] = {stem + ".onnx", types_of(signature.inputs), types_of(signature.outputs)};
  }
  const std::string text = encode_signatures(described);
  storage.write_atomically(folder + "/signatures.json", std::as_bytes(std::span(text)));
}

void export_onnx(Storage& storage, const std::string& folder, const Signatures& signatures,
                 Session& session, const OnnxExportOptions& options) {
  std::vector<std::string> names;
  std::vector<Output> fetches;
  for (const auto& [name, read] : variable_reads(signatures)) {
    names.push_back(name);
    fetches.push_back(read);
  }
  const auto fetched = fetches.empty() ? std::vector<Tensor>() : session.run(fetches);
  std::map<std::string, Tensor> values;
  for (std::size_t i = 0; i < names.size(); ++i) values.emplace(names[i], fetched[i]);
  export_onnx(storage, folder, signatures, values, options);
}

}  // namespace actorflow

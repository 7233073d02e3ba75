#include "actors/import/onnx_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "actors/import/imported_node.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::int64_t oldest_opset = 13, newest_opset = 21;

const OnnxImports& imports() {
  static const OnnxImports all = [] {
    OnnxImports known = elementwise_imports();
    known.merge(shape_imports());
    known.merge(layer_imports());
    return known;
  }();
  return all;
}

Shape shape_of(const OnnxValue& value) {
  if (!value.shape) return Shape::unknown_rank();
  std::vector<std::int64_t> dims;
  for (const auto& dim : *value.shape) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    dims.push_back(size ? *size : Shape::unknown);
  }
  return Shape(dims);
}

bool is_short(const ImportedTensor& tensor) {
  const DType dtype = tensor.output             ? tensor.output.dtype()
                      : tensor.constant.valid() ? tensor.constant.dtype()
                                                : DType::invalid;
  return is_short_floating(dtype) || dtype == DType::int8 || dtype == DType::int16;
}

class ModelImport {
 public:
  ModelImport(Graph& graph, const OnnxModel& model, const std::map<std::string, Output>& inputs)
      : graph_(graph), model_(model) {
    if (model.opset < oldest_opset || model.opset > newest_opset)
      throw Error(Code::unimplemented,
                  fmt::format("the model is of ONNX's operator set {}; {} to {} can be imported",
                              model.opset, oldest_opset, newest_opset));
    for (const auto& [name, tensor] : model.initializers) tensors_[name].constant = tensor;
    for (const OnnxValue& value : model.inputs) take_input(value, inputs);
    for (const auto& entry : inputs)
      if (!signature_.inputs.contains(entry.first))
        throw invalid_argument(fmt::format("the model has no input '{}'; its inputs are: {}",
                                           entry.first, fmt::join(input_names(), ", ")));
  }

  Signature import() {
    for (const OnnxNode& node : model_.nodes) add(node);
    if (!refused_.empty())
      throw Error(makes_sense_ ? Code::unimplemented : Code::invalid_argument,
                  fmt::format("{} nodes of the model cannot be imported: {}", refused_.size(),
                              fmt::join(refused_, "; ")));
    for (const OnnxValue& value : model_.outputs) {
      ImportedTensor& tensor = tensor_of(value.name, "an output of the model");
      if (tensor.is_further)
        throw Error(
            Code::unimplemented,
            fmt::format("its output '{}' is the second one of a node, which is not there", value.name));
      if (!tensor.output) tensor.output = graph_.constant(tensor.constant, value.name);
      signature_.outputs[value.name] = tensor.output;
    }
    return std::move(signature_);
  }

 private:
  void take_input(const OnnxValue& value, const std::map<std::string, Output>& given) {
    const TensorType type{value.dtype, shape_of(value)};
    Output input;
    if (const auto found = given.find(value.name); found != given.end()) {
      expect_in_graph(graph_, found->second, fmt::format("input '{}' of the model", value.name));
      const TensorType actual = found->second.type();
      if (actual.dtype != type.dtype || !actual.shape.compatible_with(type.shape))
        throw invalid_argument(fmt::format("input '{}' of the model is {}, but what is given for it {}",
                                           value.name, type.to_string(), actual.to_string()));
      input = found->second;
    } else {
      input = graph_.placeholder(type.dtype, type.shape, value.name);
    }
    signature_.inputs[value.name] = input;
    keep(value.name, {.output = input});
  }

  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    for (const auto& entry : signature_.inputs) names.push_back(entry.first);
    return names;
  }

  ImportedTensor& tensor_of(const std::string& name, std::string_view what) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end())
      throw Error(Code::data_loss,
                  fmt::format("{} is the tensor '{}', which nothing in the model gives", what, name));
    return found->second;
  }

  void add(const OnnxNode& node) {
    ImportedTensor result;
    try {
      result = imported(node);
    } catch (const Error& error) {
      const std::string what = fmt::format("node '{}' ({}): {}", node.name, node.op, error.what());
      if (error.code() == Code::invalid_argument && !has_short_input(node))
        makes_sense_ = false;
      else if (error.code() != Code::invalid_argument && error.code() != Code::unimplemented)
        throw Error(error.code(), what);
      refused_.push_back(what);
      result = {.refused = true};
    }
    const bool refused = result.refused;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (!node.outputs[i].empty())
        keep(node.outputs[i],
             i == 0 ? std::move(result) : ImportedTensor{.refused = refused, .is_further = true});
  }

  // Many ops refuse int8 and what has 16 bits, though the model is a good one.
  bool has_short_input(const OnnxNode& node) const {
    return std::ranges::any_of(node.inputs, [&](const std::string& name) {
      const auto found = tensors_.find(name);
      return found != tensors_.end() && is_short(found->second);
    });
  }

  void keep(const std::string& name, ImportedTensor tensor) {
    if (!tensors_.try_emplace(name, std::move(tensor)).second)
      throw Error(Code::data_loss, fmt::format("the model has two tensors '{}'", name));
  }

  ImportedTensor imported(const OnnxNode& node) {
    std::vector<ImportedTensor*> inputs;
    bool refused = false;
    for (const std::string& name : node.inputs) {
      inputs.push_back(name.empty() ? nullptr : &tensor_of(name, "an input"));
      refused = refused || (inputs.back() && inputs.back()->refused);
    }
    const bool further = std::ranges::any_of(
        inputs, [](const auto* input) { return input && input->is_further && !input->refused; });
    ImportedNode of(graph_, node, std::move(inputs));
    if (further) of.refuse("it takes a second output of another node, which is not there");
    const auto found = imports().find(node.op);
    if (node.op != "Constant" && found == imports().end()) of.refuse("this operator is not known here");
    if (refused) return {.refused = true};  // said already
    if (node.op == "Constant") return {.constant = constant_of(of)};
    const Output output = graph_.name_scope(model_.name.empty() ? "model" : model_.name,
                                            [&] { return found->second(of); });
    return {.output = output, .shape_of = node.op == "Shape" ? of.input(0) : Output()};
  }

  static Tensor constant_of(const ImportedNode& node) {
    if (const Tensor* value = node.tensor("value")) return *value;
    if (node.node().attrs.contains("value_float"))
      return Tensor::scalar(static_cast<float>(node.number("value_float", 0)));
    if (node.node().attrs.contains("value_int")) return Tensor::scalar(node.integer("value_int", 0));
    if (node.node().attrs.contains("value_ints")) {
      const auto values = node.ints("value_ints");
      return Tensor::of<std::int64_t>({std::ssize(values)}, values);
    }
    node.refuse("its value is of a kind that is not known here");
  }

  Graph& graph_;
  const OnnxModel& model_;
  Signature signature_;
  std::map<std::string, ImportedTensor> tensors_;  // by their names in the model
  std::vector<std::string> refused_;
  bool makes_sense_ = true;  // no node has an error besides those that cannot be imported
};

class FilesBeside final : public OnnxWeights {
 public:
  FilesBeside(Storage& storage, const std::string& model)
      : storage_(storage), folder_(std::filesystem::path(model).parent_path()) {}

  std::uint64_t size_bytes(const std::string& file) override { return opened(file).size_bytes(); }
  void read(const std::string& file, std::uint64_t offset, std::span<std::byte> into) override {
    opened(file).read(offset, into);
  }

 private:
  OpenFile& opened(const std::string& file) {
    auto& open = files_[file];
    if (!open) open = storage_.open((folder_ / file).string());
    return *open;
  }

  Storage& storage_;
  const std::filesystem::path folder_;
  std::map<std::string, std::unique_ptr<OpenFile>> files_;
};

}  // namespace

Signature import_onnx(Storage& storage, const std::string& file, Graph& graph,
                      const std::map<std::string, Output>& inputs) {
  const auto bytes = storage.read(expect_path("import_onnx", file));
  try {
    FilesBeside weights(storage, file);
    const OnnxModel model = decode_onnx(bytes, weights);
    return ModelImport(graph, model, inputs).import();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace actorflow

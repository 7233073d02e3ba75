#include "actors/export/onnx_context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

template <class T>
Tensor scalar_of(double value) {
  return Tensor::scalar(static_cast<T>(value));
}

}  // namespace

std::string OnnxBuilder::unique(const std::string& name) {
  for (;;) {
    const int count = names_[name]++;
    const std::string candidate = count == 0 ? name : fmt::format("{}/{}", name, count);
    if (count == 0 || names_.emplace(candidate, 1).second) return candidate;
  }
}

void OnnxBuilder::reserve(const std::string& name) {
  if (!names_.emplace(name, 1).second)
    throw invalid_argument(fmt::format("two tensors of the exported model are called '{}'", name));
}

std::string OnnxBuilder::add(std::string_view op, const std::vector<std::string>& inputs,
                             OnnxAttrs attrs, const std::string& name) {
  const std::string output = unique(name);
  nodes_.push_back({output, std::string(op), inputs, {output}, std::move(attrs)});
  return output;
}

void OnnxBuilder::name_output(const std::string& tensor, const std::string& name) {
  nodes_.push_back({name, "Identity", {tensor}, {name}, {}});
}

std::string OnnxBuilder::constant(const std::string& key, const std::string& name, const Tensor& value) {
  const auto found = constants_.find(key);
  if (found != constants_.end()) return found->second.name;
  return constants_.emplace(key, Constant{unique(name), value}).first->second.name;
}

std::string OnnxBuilder::channels_first(const std::string& images) {
  if (const auto found = first_of_.find(images); found != first_of_.end()) return found->second;
  const auto turned = add("Transpose", {images}, {{"perm", std::vector<std::int64_t>{0, 3, 1, 2}}},
                          images + "/channels_first");
  first_of_[images] = turned;
  return turned;
}

std::string OnnxBuilder::channels_last(const std::string& images) {
  const auto turned = add("Transpose", {images}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}},
                          images + "/channels_last");
  first_of_[turned] = images;
  return turned;
}

OnnxModel OnnxBuilder::finish(OnnxModel model) const {
  std::set<std::string, std::less<>> needed;
  for (const auto& output : model.outputs) needed.insert(output.name);
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if (!needed.contains(node->outputs[0])) continue;
    needed.insert(node->inputs.begin(), node->inputs.end());
    model.nodes.push_back(*node);
  }
  std::ranges::reverse(model.nodes);
  for (const auto& [key, constant] : constants_)
    if (needed.contains(constant.name)) model.initializers.emplace(constant.name, constant.value);
  return model;
}

int OnnxContext::rank(int input) const {
  if (!shape(input).has_rank()) refuse(fmt::format("input {} has no known rank", input));
  return shape(input).rank();
}

std::string OnnxContext::ints(const std::vector<std::int64_t>& values) {
  return builder_.constant(fmt::format("ints[{}]", fmt::join(values, ",")),
                           Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
}

std::string OnnxContext::scalar(double value, DType dtype) {
  const std::string key = fmt::format("{}({})", to_string(dtype), value);
  switch (dtype) {
    case DType::float32:
      return builder_.constant(key, scalar_of<float>(value));
    case DType::float64:
      return builder_.constant(key, scalar_of<double>(value));
    case DType::int32:
      return builder_.constant(key, scalar_of<std::int32_t>(value));
    case DType::int64:
      return builder_.constant(key, scalar_of<std::int64_t>(value));
    case DType::uint8:
      return builder_.constant(key, scalar_of<std::uint8_t>(value));
    case DType::boolean:
      return builder_.constant(key, Tensor::scalar(value != 0));
    case DType::float16:
      return builder_.constant(key, scalar_of<Float16>(value));
    case DType::bfloat16:
      return builder_.constant(key, scalar_of<BFloat16>(value));
    default:
      refuse(fmt::format("there is no scalar of type {}", to_string(dtype)));
  }
}

void OnnxContext::refuse(const std::string& why) const {
  throw Error(Code::unimplemented, fmt::format("node '{}' ({}): {}", node_.name, node_.op->name, why));
}

}  // namespace actorflow

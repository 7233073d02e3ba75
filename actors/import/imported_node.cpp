#include "actors/import/imported_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

template <class T>
std::vector<std::int64_t> integers_of(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

}  // namespace

ImportedTensor& ImportedNode::given(int i) const {
  if (!has(i)) throw invalid_argument(fmt::format("input {} is missing", i));
  return *inputs_[static_cast<std::size_t>(i)];
}

Output ImportedNode::input(int i) const {
  ImportedTensor& tensor = given(i);
  if (!tensor.output)
    tensor.output = graph_.constant(tensor.constant, node_.inputs[static_cast<std::size_t>(i)]);
  return tensor.output;
}

std::vector<Output> ImportedNode::all_inputs() const {
  std::vector<Output> all{input(0)};
  for (int i = 1; i < inputs(); ++i) all.push_back(input(i));
  return all;
}

int ImportedNode::rank(int i) const {
  const Shape& shape = input(i).shape();
  if (!shape.has_rank()) refuse(fmt::format("the number of dimensions of input {} is not known", i));
  return shape.rank();
}

int ImportedNode::axis(std::int64_t axis, int i) const {
  const int dims = rank(i);
  if (axis < -dims || axis >= dims)
    throw invalid_argument(fmt::format("there is no axis {} of {}", axis, input(i).type().to_string()));
  return static_cast<int>(axis < 0 ? axis + dims : axis);
}

const Tensor& ImportedNode::held(int i) const {
  const Tensor& tensor = given(i).constant;
  if (!tensor.valid()) refuse(fmt::format("input {} is computed; it must be a constant", i));
  return tensor;
}

std::vector<std::int64_t> ImportedNode::ints(int i) const {
  const Tensor& tensor = held(i);
  if (tensor.dtype() == DType::int64) return integers_of<std::int64_t>(tensor);
  if (tensor.dtype() == DType::int32) return integers_of<std::int32_t>(tensor);
  throw invalid_argument(fmt::format("input {} is {}; expected integers", i, tensor.describe()));
}

double ImportedNode::number(int i) const {
  const Tensor& tensor = held(i);
  if (tensor.elements() == 1 && tensor.dtype() == DType::float32) return tensor.values<float>()[0];
  if (tensor.elements() == 1 && tensor.dtype() == DType::float64) return tensor.values<double>()[0];
  if (tensor.elements() == 1 && tensor.dtype() == DType::float16) return tensor.values<Float16>()[0];
  if (tensor.elements() == 1 && tensor.dtype() == DType::bfloat16) return tensor.values<BFloat16>()[0];
  if (tensor.elements() == 1 && tensor.dtype() == DType::int64)
    return static_cast<double>(tensor.values<std::int64_t>()[0]);
  throw invalid_argument(fmt::format("input {} is {}; expected a number", i, tensor.describe()));
}

bool ImportedNode::truth(int i) const {
  const Tensor& tensor = given(i).constant;
  if (tensor.valid() && tensor.dtype() == DType::boolean && tensor.elements() == 1)
    return tensor.values<bool>()[0];
  throw invalid_argument(fmt::format("input {} is no constant of type bool", i));
}

Output ImportedNode::shape_of(int i) const { return given(i).shape_of; }

template <class T>
const T* ImportedNode::find(std::string_view name) const {
  const auto found = node_.attrs.find(std::string(name));
  if (found == node_.attrs.end()) return nullptr;
  if (const T* value = std::get_if<T>(&found->second)) return value;
  throw invalid_argument(fmt::format("its attribute '{}' is of another type than ONNX says", name));
}

std::int64_t ImportedNode::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* value = find<std::int64_t>(name);
  return value ? *value : otherwise;
}

double ImportedNode::number(std::string_view name, double otherwise) const {
  const auto* value = find<double>(name);
  return value ? *value : otherwise;
}

std::string ImportedNode::text(std::string_view name, const std::string& otherwise) const {
  const auto* value = find<std::string>(name);
  return value ? *value : otherwise;
}

std::vector<std::int64_t> ImportedNode::ints(std::string_view name,
                                             std::vector<std::int64_t> otherwise) const {
  const auto* value = find<std::vector<std::int64_t>>(name);
  return value ? *value : std::move(otherwise);
}

const Tensor* ImportedNode::tensor(std::string_view name) const { return find<Tensor>(name); }

std::vector<std::int64_t> ImportedNode::ints(int i, std::string_view name) const {
  return has(i) ? ints(i) : ints(name);
}

void ImportedNode::refuse(const std::string& why) const { throw Error(Code::unimplemented, why); }

const std::vector<std::int64_t>* exchange_of(Output x) {
  if (x.node().op->name != "Transpose") return nullptr;
  const auto& permutation = attr<std::vector<std::int64_t>>(x.node(), "permutation");
  return permutation.empty() ? nullptr : &permutation;
}

Output exchanged(Output x, const std::vector<std::int64_t>& permutation) {
  Output of = x;
  std::vector<std::int64_t> all = permutation;
  if (const auto* before = exchange_of(x); before && before->size() == all.size()) {
    for (auto& axis : all) axis = (*before)[static_cast<std::size_t>(axis)];
    of = {x.graph, x.node().inputs[0]};
  }
  if (std::ranges::is_sorted(all)) return of;
  return transpose(of, all);
}

Output channels_last(Output images) { return exchanged(images, {0, 2, 3, 1}); }
Output channels_first(Output images) { return exchanged(images, {0, 3, 1, 2}); }

}  // namespace actorflow

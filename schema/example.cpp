#include "schema/example.h"

#include <algorithm>

#include "dataflow/graph/op.h"
#include "dataflow/values/check.h"
#include "dataflow/values/error.h"
#include "schema/example.pb.h"

namespace actorflow {
namespace {

using examples::Feature;

[[noreturn]] void refuse(const ExampleFeature& feature, const std::string& expected,
                         const std::string& actual) {
  throw invalid_argument("feature '" + feature.name + "': expected " + expected + ", got " + actual);
}

bool has_unknown_length(const Shape& shape) { return shape.rank() > 0 && shape[0] == Shape::unknown; }

// Of an element along the first dimension if that is unknown, else of all.
std::int64_t fixed_elements(const Shape& shape) {
  std::int64_t elements = 1;
  for (int i = has_unknown_length(shape) ? 1 : 0; i < shape.rank(); ++i) {
    ACTORFLOW_CHECK(shape[i] != Shape::unknown, "check_features() refuses", shape.to_string());
    elements *= shape[i];
  }
  return elements;
}

std::string kind_of(const Feature& feature) {
  switch (feature.kind_case()) {
    case Feature::kBytesList:
      return "strings";
    case Feature::kFloatList:
      return "floats";
    case Feature::kInt64List:
      return "integers";
    default:
      return "no values";
  }
}

template <class T, class Values>
Tensor to_tensor(const ExampleFeature& wanted, const Values& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t fixed = fixed_elements(wanted.shape);
  Shape shape = wanted.shape;
  const bool fits = has_unknown_length(shape) ? fixed > 0 && count % fixed == 0 : count == fixed;
  if (!fits)
    refuse(wanted, TensorType{wanted.dtype, shape}.to_string(), std::to_string(count) + " values");
  if (has_unknown_length(shape)) shape.set(0, count / fixed);
  Tensor tensor = Tensor::allocate(wanted.dtype, shape);
  std::copy(values.begin(), values.end(), tensor.mutable_values<T>().begin());
  return tensor;
}

Tensor take(const ExampleFeature& wanted, const Feature& feature) {
  if (wanted.dtype == DType::string && feature.has_bytes_list())
    return to_tensor<std::string>(wanted, feature.bytes_list().value());
  if (wanted.dtype == DType::float32 && feature.has_float_list())
    return to_tensor<float>(wanted, feature.float_list().value());
  if (wanted.dtype == DType::int64 && feature.has_int64_list())
    return to_tensor<std::int64_t>(wanted, feature.int64_list().value());
  refuse(wanted, TensorType{wanted.dtype, wanted.shape}.to_string(), kind_of(feature));
}

template <class T, class List>
void put(const Tensor& tensor, List& list) {
  for (const auto& value : tensor.values<T>()) list.add_value(value);
}

void fill(Feature& feature, const std::string& name, const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::string:
      return put<std::string>(tensor, *feature.mutable_bytes_list());
    case DType::float32:
      return put<float>(tensor, *feature.mutable_float_list());
    case DType::int64:
      return put<std::int64_t>(tensor, *feature.mutable_int64_list());
    default:
      throw invalid_argument("feature '" + name + "': an example holds float32, int64 or string, got " +
                             tensor.describe());
  }
}

}  // namespace

void check_features(std::span<const ExampleFeature> features) {
  for (const auto& feature : features) {
    const TensorType type{feature.dtype, feature.shape};
    if (feature.dtype != DType::float32 && feature.dtype != DType::int64 &&
        feature.dtype != DType::string)
      refuse(feature, "float32, int64 or string", type.to_string());
    bool known = feature.shape.has_rank();
    for (int i = 1; known && i < feature.shape.rank(); ++i) known = feature.shape[i] != Shape::unknown;
    if (!known)
      refuse(feature, "a shape of which at most the first dimension is unknown", type.to_string());
    const auto& value = feature.default_value;
    if (value && (value->dtype() != feature.dtype || !value->shape().compatible_with(feature.shape)))
      refuse(feature, "a default value of " + type.to_string(), value->describe());
  }
}

Tuple parse_example(std::string_view bytes, std::span<const ExampleFeature> features) {
  examples::Example example;
  if (!example.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw Error(Code::data_loss,
                "a record of " + std::to_string(bytes.size()) +
                    " bytes is no tf.train.Example; was it written by another program?");
  const auto& all = example.features().feature();
  Tuple tensors;
  for (const auto& wanted : features) {
    const auto found = all.find(wanted.name);
    const bool is_there =
        found != all.end() && found->second.kind_case() != examples::Feature::KIND_NOT_SET;
    if (!is_there && !wanted.default_value)
      refuse(wanted, "it in every example, or a default value", "an example without it");
    tensors.push_back(is_there ? take(wanted, found->second) : *wanted.default_value);
  }
  return tensors;
}

std::string encode_example(const std::map<std::string, Tensor>& features) {
  examples::Example example;
  auto& all = *example.mutable_features()->mutable_feature();
  for (const auto& [name, tensor] : features) fill(all[name], name, tensor);
  std::string bytes;
  if (!example.SerializeToString(&bytes))
    throw Error(Code::resource_exhausted, "an example of " + std::to_string(example.ByteSizeLong()) +
                                              " bytes; the format takes 2 GiB");
  return bytes;
}

}  // namespace actorflow

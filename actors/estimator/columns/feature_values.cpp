#include "actors/estimator/columns/feature_values.h"

#include <fmt/format.h>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

[[noreturn]] void refuse(const std::string& key, std::string_view expected, const Tensor& feature) {
  throw invalid_argument(
      fmt::format("the feature '{}': expected {}, got {}", key, expected, feature.describe()));
}

template <class T>
Tensor converted(const Tensor& feature, std::int64_t size) {
  Tensor numbers = Tensor::allocate(DType::float32, {size});
  auto* to = numbers.mutable_values<float>().data();
  for (const T value : feature.values<T>()) *to++ = static_cast<float>(value);
  return numbers;
}

template <class T>
std::vector<std::optional<std::int64_t>> integers(const Tensor& feature) {
  std::vector<std::optional<std::int64_t>> all;
  for (const T value : feature.values<T>())
    all.push_back(std::int64_t{value} == -1 ? std::nullopt : std::optional(std::int64_t{value}));
  return all;
}

}  // namespace

Tensor numbers_of(const std::string& key, const Tensor& feature, std::int64_t size) {
  const auto expected = [&] {
    return size == 1 ? std::string("a number") : fmt::format("{} numbers", size);
  };
  if (feature.elements() != size) refuse(key, expected(), feature);
  switch (feature.dtype()) {
    case DType::float32:
      return feature.reshaped({size});
    case DType::float64:
      return converted<double>(feature, size);
    case DType::int32:
      return converted<std::int32_t>(feature, size);
    case DType::int64:
      return converted<std::int64_t>(feature, size);
    case DType::uint8:
      return converted<std::uint8_t>(feature, size);
    case DType::boolean:
      return converted<bool>(feature, size);
    case DType::float16:
      return converted<Float16>(feature, size);
    case DType::bfloat16:
      return converted<BFloat16>(feature, size);
    case DType::int8:
      return converted<std::int8_t>(feature, size);
    case DType::int16:
      return converted<std::int16_t>(feature, size);
    default:
      refuse(key, expected() + "; text needs a categorical column", feature);
  }
}

std::vector<std::optional<std::int64_t>> integers_of(const std::string& key, const Tensor& feature) {
  switch (feature.dtype()) {
    case DType::int32:
      return integers<std::int32_t>(feature);
    case DType::int64:
      return integers<std::int64_t>(feature);
    case DType::uint8:
      return integers<std::uint8_t>(feature);
    case DType::int8:
      return integers<std::int8_t>(feature);
    case DType::int16:
      return integers<std::int16_t>(feature);
    default:
      refuse(key, "integers", feature);
  }
}

std::vector<std::optional<std::string>> texts_of(const std::string& key, const Tensor& feature) {
  if (feature.dtype() != DType::string) refuse(key, "text (string)", feature);
  std::vector<std::optional<std::string>> all;
  for (const std::string& value : feature.values<std::string>())
    all.push_back(value.empty() ? std::nullopt : std::optional(value));
  return all;
}

std::vector<std::optional<std::string>> texts_or_integers_of(const std::string& key,
                                                             const Tensor& feature) {
  if (feature.dtype() == DType::string) return texts_of(key, feature);
  if (!is_integer(feature.dtype())) refuse(key, "text (string) or integers", feature);
  std::vector<std::optional<std::string>> all;
  for (const auto& value : integers_of(key, feature))
    all.push_back(value ? std::optional(std::to_string(*value)) : std::nullopt);
  return all;
}

}  // namespace actorflow

#include "actors/models/fit/class_weight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The class of a label whose elements are of one of these types; none of another label.
template <class... T>
std::optional<std::int64_t> class_in(const Tensor& label) {
  std::optional<std::int64_t> number;
  const auto read = [&]<class Type>(Type) {
    if (label.dtype() != dtype_of<Type>) return;
    const auto values = label.values<Type>();
    number = values.size() == 1 ? std::llround(static_cast<double>(values[0]))
                                : std::ranges::max_element(values) - values.begin();
  };
  if (label.elements() > 0 && label.shape().rank() <= 1) (read(T{}), ...);
  return number;
}

std::int64_t class_of(const Tensor& label) {
  const auto number = class_in<std::int32_t, std::int64_t, std::uint8_t, float, double>(label);
  if (!number)
    throw invalid_argument(
        fmt::format("fit: class_weight needs a label that is a class number, or has a number for each "
                    "class, got {}",
                    label.describe()));
  return *number;
}

float weight_of(const Tensor& label, const ClassWeight& weights) {
  const std::int64_t number = class_of(label);
  const auto found = weights.find(number);
  if (found == weights.end())
    throw invalid_argument(
        fmt::format("fit: an example is of class {}, but class_weight is of the classes {}; give each "
                    "class a weight, such as 1",
                    number, describe(weights)));
  return static_cast<float>(found->second);
}

}  // namespace

void check_class_weight(const ClassWeight& weights, const CompileOptions& options, std::size_t outputs) {
  if (weights.empty()) return;
  if (outputs != 1)
    throw invalid_argument(fmt::format(
        "fit: class_weight is for a model of one output, which has {}; give examples weights by "
        "CompileOptions::sample_weights",
        outputs));
  if (options.sample_weights)
    throw invalid_argument(
        "fit: class_weight and CompileOptions::sample_weights both weight examples; give one of them");
  for (const auto& [number, weight] : weights)
    if (!(weight >= 0) || std::isinf(weight))
      throw invalid_argument(fmt::format(
          "fit: expected class weights of 0 or more, but that of class {} is {}", number, weight));
}

TrainingData weighted_by_class(const TrainingData& data, const ClassWeight& weights) {
  if (weights.empty()) return data;
  return data.map([weights](Tuple example) {
    example.push_back(Tensor::scalar(weight_of(example.back(), weights)));
    return example;
  });
}

std::string describe(const ClassWeight& weights) {
  std::string text;
  for (const auto& [number, weight] : weights)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", number, weight);
  return text.empty() ? "none" : text;
}

}  // namespace actorflow

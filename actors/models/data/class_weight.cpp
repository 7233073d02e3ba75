#include "actors/models/data/class_weight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::int64_t class_number(double label) {
  if (!std::isfinite(label))
    throw invalid_argument(
        fmt::format("fit: class_weight needs labels that are class numbers, but one is {}", label));
  return std::llround(label);
}

// Calls the function with the classes of a batch's labels, if these are of one of these types.
template <class... T, class Function>
bool for_each_class(const Tensor& labels, const Function& function) {
  const std::int64_t rows = labels.shape()[0];
  const auto read = [&]<class Type>(Type) {
    if (labels.dtype() != dtype_of<Type>) return false;
    const auto values = labels.values<Type>();
    const auto width = values.size() / static_cast<std::size_t>(rows);
    for (std::size_t first = 0; first < values.size(); first += width) {
      const auto label = values.subspan(first, width);
      function(width == 1 ? class_number(static_cast<double>(label[0]))
                          : std::ranges::max_element(label) - label.begin());
    }
    return true;
  };
  return (read(T{}) || ...);
}

Tensor weights_of(const Tensor& labels, const ClassWeight& weights) {
  std::vector<float> chosen;
  const auto choose = [&](std::int64_t number) {
    const auto found = weights.find(number);
    if (found == weights.end())
      throw invalid_argument(
          fmt::format("fit: an example is of class {}, but class_weight is of the classes {}; give each "
                      "class a weight, such as 1",
                      number, describe(weights)));
    chosen.push_back(static_cast<float>(found->second));
  };
  if (labels.shape().rank() > 2 || labels.elements() == 0 ||
      !for_each_class<std::int32_t, std::int64_t, std::uint8_t, float, double>(labels, choose))
    throw invalid_argument(
        fmt::format("fit: class_weight needs labels that are class numbers, or have a number for each "
                    "class, but those of a batch are {}",
                    labels.describe()));
  return Tensor::of<float>({std::ssize(chosen)}, chosen);
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

Dataset::Map weighting(const ClassWeight& weights) {
  if (weights.empty()) return {};
  return [weights](Tuple batch) {
    if (!batch.empty()) batch.push_back(weights_of(batch.back(), weights));
    return batch;
  };
}

std::string describe(const ClassWeight& weights) {
  std::string text;
  for (const auto& [number, weight] : weights)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", number, weight);
  return text.empty() ? "none" : text;
}

}  // namespace actorflow

#include "actors/models/preprocessing/token_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "actors/models/preprocessing/each_batch.h"
#include "dataflow/values/error.h"

namespace actorflow {

std::vector<std::string> most_frequent(const Dataset& examples, std::size_t component,
                                       std::int64_t at_most, const Tokens& tokens) {
  std::unordered_map<std::string, std::int64_t> counts;
  for_each_batch(examples, component, [&](const Tensor& batch) {
    expect_texts("adapt", batch);
    for (const std::string& text : batch.values<std::string>())
      tokens(text, [&](std::string token) { ++counts[std::move(token)]; });
  });
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [token, count] : counts) order.emplace_back(count, token);
  std::ranges::sort(order, std::ranges::greater{});
  if (at_most > 0 && std::ssize(order) > at_most) order.resize(static_cast<std::size_t>(at_most));
  std::vector<std::string> result;
  for (auto& [count, token] : order) result.push_back(std::move(token));
  return result;
}

void expect_texts(std::string_view caller, const Tensor& texts) {
  if (texts.dtype() != DType::string)
    throw invalid_argument(fmt::format("{}: expected strings, got {}", caller, texts.describe()));
}

Dataset::Map map_of_component(std::string_view caller, std::size_t component,
                              std::function<Tensor(const Tensor&)> function) {
  return [caller = std::string(caller), component, function = std::move(function)](Tuple element) {
    if (component >= element.size())
      throw invalid_argument(fmt::format("{}: expected a component below {}, got {}; elements are {}",
                                         caller, element.size(), component, describe(element)));
    element[component] = function(element[component]);
    return element;
  };
}

}  // namespace actorflow

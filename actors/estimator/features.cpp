#include "actors/estimator/features.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/estimator/columns/feature_values.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Tensor as_tensor(const CategoricalColumn::Ids& ids) {
  return Tensor::of<std::int64_t>({std::ssize(ids)}, ids);
}

}  // namespace

SymbolicTensor Features::input(ModelInput made) {
  const auto known = std::ranges::find(inputs_, made.name, &ModelInput::name);
  if (known == inputs_.end()) return inputs_.emplace_back(std::move(made)).tensor;
  if (known->definition == made.definition) return known->tensor;
  throw invalid_argument(
      fmt::format("the input '{}' has two meanings: {}, and {}; use one column for both", made.name,
                  known->definition, made.definition));
}

SymbolicTensor Features::operator[](const std::string& key) {
  return input({.name = key,
                .keys = {key},
                .definition = "the feature as it comes",
                .of = [](std::span<const Tensor> features) { return features[0]; },
                .tensor = SymbolicTensor({.name = key})});
}

SymbolicTensor Features::numbers(const NumericColumn& column) {
  const std::int64_t size = column.options.size;
  return input(
      {.name = column.key,
       .keys = {column.key},
       .definition = fmt::format("{} numbers of the feature", size),
       .of = [key = column.key,
              size](std::span<const Tensor> features) { return numbers_of(key, features[0], size); },
       .tensor = actorflow::input({size}, DType::float32, column.key)});
}

SymbolicTensor Features::ids(const CategoricalColumn& column) {
  const std::string name = column.name() + "_ids";
  return input(
      {.name = name,
       .keys = column.def().keys,
       .definition = column.def().definition,
       .of = [column](std::span<const Tensor> features) { return as_tensor(column.ids(features)); },
       .tensor = SymbolicTensor({.name = name})});
}

}  // namespace actorflow

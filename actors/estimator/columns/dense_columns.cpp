// Columns that are numbers, or become some: all but the categorical ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/estimator/columns/feature_values.h"
#include "actors/estimator/feature_column.h"
#include "dataflow/values/error.h"

namespace actorflow {

NumericColumn numeric_column(std::string key, NumericColumnOptions options) {
  if (options.size < 1)
    throw invalid_argument(
        fmt::format("numeric_column '{}': expected a size of 1 or more, got {}", key, options.size));
  return {std::move(key), std::move(options)};
}

BucketizedColumn bucketized_column(const NumericColumn& source, std::vector<float> boundaries) {
  const auto refuse = [&](std::string_view what) {
    throw invalid_argument(fmt::format("bucketized_column of '{}': {}", source.key, what));
  };
  if (source.options.normalizer_fn)
    refuse("its boundaries are of numbers as they come; give it a numeric_column without normalizer_fn");
  if (boundaries.empty()) refuse("expected at least one boundary, got none");
  for (const float boundary : boundaries)
    if (!std::isfinite(boundary))
      refuse(fmt::format("expected boundaries that are finite, got {}", boundary));
  for (std::size_t i = 1; i < boundaries.size(); ++i)
    if (boundaries[i - 1] >= boundaries[i])
      refuse(fmt::format("expected boundaries that increase, but {} comes before {}", boundaries[i - 1],
                         boundaries[i]));
  return {source, std::move(boundaries)};
}

CategoricalColumn::CategoricalColumn(const BucketizedColumn& column) {
  const auto ids_of = [column](std::span<const Tensor> features) {
    const NumericColumn& source = column.source;
    const Tensor numbers = numbers_of(source.key, features[0], source.options.size);
    Ids ids;
    for (const float number : numbers.values<float>()) {
      const auto bucket = std::ranges::count_if(column.boundaries,
                                                [number](float boundary) { return number >= boundary; });
      ids.push_back(std::ssize(ids) * column.buckets() + bucket);
    }
    return ids;
  };
  std::string definition = "bucketized by";
  for (const float boundary : column.boundaries) definition += fmt::format(" {}", boundary);
  const std::int64_t size = column.source.options.size;
  def_ = std::make_shared<const Def>(Def{.name = column.name(),
                                         .keys = {column.source.key},
                                         .num_buckets = column.buckets() * size,
                                         .definition = definition + fmt::format(", size {}", size),
                                         .ids = ids_of});
}

EmbeddingColumn embedding_column(const CategoricalColumn& categorical, std::int64_t dimension,
                                 EmbeddingOptions options) {
  if (dimension < 1)
    throw invalid_argument(
        fmt::format("embedding_column of '{}': expected a dimension of 1 or more, got {}",
                    categorical.name(), dimension));
  return {categorical, dimension, std::move(options)};
}

IndicatorColumn indicator_column(const CategoricalColumn& categorical) { return {categorical}; }

std::string name_of(const FeatureColumn& column) {
  return std::visit([](const auto& one) { return std::string(one.name()); }, column);
}

}  // namespace actorflow

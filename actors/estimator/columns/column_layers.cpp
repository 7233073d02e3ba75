// The layers that feature columns become.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/estimator/features.h"
#include "actors/layers/layer.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

std::vector<FeatureColumn> by_name(std::string_view what, std::vector<FeatureColumn> columns) {
  if (columns.empty())
    throw invalid_argument(fmt::format("{}: expected feature columns, got none", what));
  std::ranges::sort(columns, {}, name_of);
  const auto twice = std::ranges::adjacent_find(columns, {}, name_of);
  if (twice != columns.end())
    throw invalid_argument(fmt::format("{}: two columns are called '{}'", what, name_of(*twice)));
  return columns;
}

// A column's only input.
SymbolicTensor input_of(Features& features, const NumericColumn& column) {
  return features.numbers(column);
}
SymbolicTensor input_of(Features& features, const BucketizedColumn& column) {
  return features.numbers(column.source);
}
SymbolicTensor input_of(Features& features, const CategoricalColumn& column) {
  return features.ids(column);
}
template <class Column>
SymbolicTensor input_of(Features& features, const Column& column) {
  return features.ids(column.categorical);
}

std::vector<SymbolicTensor> inputs_of(Features& features, const std::vector<FeatureColumn>& columns) {
  std::vector<SymbolicTensor> inputs;
  for (const FeatureColumn& column : columns)
    inputs.push_back(std::visit([&](const auto& one) { return input_of(features, one); }, column));
  return inputs;
}

// The rows of a table for ids [batch, values], joined; -1 counts nothing: [batch, width].
Output combined(Output table, Output ids, Combiner combiner) {
  const Output is_there = greater_equal(ids, scalar_like(ids, 0));
  const Output rows = embedding_lookup(table, maximum(ids, scalar_like(ids, 0)));
  const Output counts = cast(is_there, DType::float32);
  const Output total = sum(rows * expand_dims(counts, {2}), {1});
  if (combiner == Combiner::sum) return total;
  const Output count = maximum(sum(counts, {1}, true), scalar_like(counts, 1.0));
  return total / (combiner == Combiner::mean ? count : sqrt(count));
}

// A column's numbers, float32 [batch, width].
Output dense(LayerScope&, const NumericColumn& column, Output x) {
  return column.options.normalizer_fn ? column.options.normalizer_fn(x) : x;
}

Output dense(LayerScope& scope, const BucketizedColumn& column, Output x) {
  const Output boundaries =
      scope.graph().constant(Tensor::of<float>({1, 1, column.buckets() - 1}, column.boundaries));
  const Output passed = cast(greater_equal(expand_dims(x, {2}), boundaries), DType::int64);
  const Output is_in = one_hot(sum(passed, {2}), column.buckets());
  return reshape(is_in, {-1, column.source.options.size * column.buckets()});
}

Output dense(LayerScope&, const IndicatorColumn& column, Output ids) {
  return sum(one_hot(ids, column.categorical.num_buckets()), {1});
}

Output dense(LayerScope& scope, const EmbeddingColumn& column, Output ids) {
  const double deviation = 1 / std::sqrt(static_cast<double>(column.dimension));
  const Initializer initial = column.options.initializer
                                  ? column.options.initializer
                                  : [deviation](Graph& graph, const Shape& shape, std::uint64_t seed) {
                                      return truncated_normal(graph, shape, 0, deviation, seed);
                                    };
  const Variable table = scope.weight(column.name() + "/table",
                                      {column.categorical.num_buckets(), column.dimension}, initial);
  return combined(table, ids, column.options.combiner);
}

Output dense(LayerScope&, const CategoricalColumn& column, Output) {
  throw invalid_argument(
      fmt::format("the column '{}' has categories, not numbers; give embedding_column or "
                  "indicator_column of it",
                  column.name()));
}

// A column's part of a weighted sum, float32 [batch, units].
template <class Column>
Output weighted(LayerScope& scope, const Column& column, Output x, std::int64_t units) {
  const Output numbers = dense(scope, column, x);
  return matmul(numbers, scope.weight(std::string(column.name()) + "/weights",
                                      {numbers.shape()[1], units}, zeros()));
}

Output weighted(LayerScope& scope, const CategoricalColumn& column, Output ids, std::int64_t units) {
  const Variable weights =
      scope.weight(column.name() + "/weights", {column.num_buckets(), units}, zeros());
  return combined(weights, ids, Combiner::sum);
}

}  // namespace

SymbolicTensor input_layer(Features& features, const std::vector<FeatureColumn>& given) {
  const auto columns = by_name("input_layer", given);
  const Layer layer("input_layer", [columns](LayerScope& scope, const std::vector<Output>& inputs) {
    std::vector<Output> parts;
    for (std::size_t i = 0; i < columns.size(); ++i)
      parts.push_back(
          std::visit([&](const auto& column) { return dense(scope, column, inputs[i]); }, columns[i]));
    return parts.size() == 1 ? parts[0] : concat(parts, 1);
  });
  return layer(inputs_of(features, columns));
}

SymbolicTensor linear_model(Features& features, const std::vector<FeatureColumn>& given,
                            std::int64_t units) {
  const auto columns = by_name("linear_model", given);
  if (units < 1)
    throw invalid_argument(fmt::format("linear_model: expected units of 1 or more, got {}", units));
  const Layer layer(
      "linear_model", [columns, units](LayerScope& scope, const std::vector<Output>& inputs) {
        Output total;
        for (std::size_t i = 0; i < columns.size(); ++i) {
          const Output part = std::visit(
              [&](const auto& column) { return weighted(scope, column, inputs[i], units); }, columns[i]);
          total = i == 0 ? part : total + part;
        }
        return bias_add(total, scope.weight("bias", {units}, zeros()));
      });
  return layer(inputs_of(features, columns));
}

}  // namespace actorflow

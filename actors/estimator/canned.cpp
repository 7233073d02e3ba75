#include "actors/estimator/canned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/estimator/heads.h"
#include "actors/layers/layers.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void expect_columns(std::string_view estimator, const std::vector<FeatureColumn>& columns) {
  if (columns.empty())
    throw invalid_argument(fmt::format("{}: expected feature columns, got none", estimator));
}

void expect_hidden_units(std::string_view estimator, const std::vector<std::int64_t>& hidden_units) {
  for (const std::int64_t units : hidden_units)
    if (units < 1)
      throw invalid_argument(
          fmt::format("{}: expected hidden_units of 1 or more each, got {}", estimator, units));
}

// The logits of a network of dense layers.
template <class Options>
ModelFn network(std::string_view estimator, const Options& options, const Head& head) {
  expect_columns(estimator, options.feature_columns);
  expect_hidden_units(estimator, options.hidden_units);
  return [options, head](Features& features) {
    SymbolicTensor x = input_layer(features, options.feature_columns);
    for (const std::int64_t units : options.hidden_units) {
      x = dense(units, options.activation_fn)(x);
      if (options.dropout > 0) x = dropout(options.dropout)(x);
    }
    return head.of(dense(head.logits)(x), options.optimizer);
  };
}

OptimizerChoice optimizer_of(const LinearOptimizer& choice, std::size_t columns) {
  return choice ? *choice
                : Ftrl{.learning_rate = std::min(0.2, 1 / std::sqrt(static_cast<double>(columns)))};
}

template <class Options>
ModelFn weighted_sum(std::string_view estimator, const Options& options, const Head& head) {
  expect_columns(estimator, options.feature_columns);
  return [options, head](Features& features) {
    return head.of(linear_model(features, options.feature_columns, head.logits),
                   optimizer_of(options.optimizer, options.feature_columns.size()));
  };
}

}  // namespace

DNNClassifier::DNNClassifier(const DNNClassifierOptions& options)
    : Estimator(network("DNNClassifier", options,
                        classifier_head(options.n_classes, options.label_vocabulary)),
                options.config) {}

DNNRegressor::DNNRegressor(const DNNRegressorOptions& options)
    : Estimator(network("DNNRegressor", options, regression_head(options.label_dimension)),
                options.config) {}

LinearClassifier::LinearClassifier(const LinearClassifierOptions& options)
    : Estimator(weighted_sum("LinearClassifier", options,
                             classifier_head(options.n_classes, options.label_vocabulary)),
                options.config) {}

LinearRegressor::LinearRegressor(const LinearRegressorOptions& options)
    : Estimator(weighted_sum("LinearRegressor", options, regression_head(options.label_dimension)),
                options.config) {}

}  // namespace actorflow

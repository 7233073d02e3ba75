// Estimators that bring their model along, by the names of TensorFlow.
//
// Classifiers measure "loss" and "accuracy", those of two classes also "precision", "recall" and "auc";
// they predict "logits", "probabilities" [n, classes] and "class_ids" [n], and "classes" if the labels
// are names. Regressors measure "loss", "label/mean" and "prediction/mean"; they predict "predictions"
// [n, label_dimension]. Labels of classifiers are integers from 0 on, or names of the label_vocabulary;
// of regressors numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/estimator/estimator.h"
#include "actors/layers/activation.h"

namespace actorflow {

struct DNNClassifierOptions {
  std::vector<FeatureColumn> feature_columns;
  std::vector<std::int64_t> hidden_units;
  std::int64_t n_classes = 2;  // as many as the label_vocabulary has names, if there is one
  std::vector<std::string> label_vocabulary{};
  OptimizerChoice optimizer = Adagrad{0.05};
  Activation activation_fn = relu;
  double dropout = 0;  // after each hidden layer
  RunConfig config{};
};
class DNNClassifier : public Estimator {
 public:
  explicit DNNClassifier(const DNNClassifierOptions& options);
};

struct DNNRegressorOptions {
  std::vector<FeatureColumn> feature_columns;
  std::vector<std::int64_t> hidden_units;
  std::int64_t label_dimension = 1;
  OptimizerChoice optimizer = Adagrad{0.05};
  Activation activation_fn = relu;
  double dropout = 0;
  RunConfig config{};
};
class DNNRegressor : public Estimator {
 public:
  explicit DNNRegressor(const DNNRegressorOptions& options);
};

// None: Ftrl with the learning rate 0.2, or 1 / sqrt(columns) if that is less.
using LinearOptimizer = std::optional<OptimizerChoice>;

struct LinearClassifierOptions {
  std::vector<FeatureColumn> feature_columns;
  std::int64_t n_classes = 2;
  std::vector<std::string> label_vocabulary{};
  LinearOptimizer optimizer{};
  RunConfig config{};
};
class LinearClassifier : public Estimator {
 public:
  explicit LinearClassifier(const LinearClassifierOptions& options);
};

struct LinearRegressorOptions {
  std::vector<FeatureColumn> feature_columns;
  std::int64_t label_dimension = 1;
  LinearOptimizer optimizer{};
  RunConfig config{};
};
class LinearRegressor : public Estimator {
 public:
  explicit LinearRegressor(const LinearRegressorOptions& options);
};

}  // namespace actorflow

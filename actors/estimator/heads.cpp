#include "actors/estimator/heads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "actors/estimator/columns/feature_values.h"
#include "actors/layers/layer.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

[[noreturn]] void refuse_label(const std::string& expected, const std::string& got) {
  throw invalid_argument(fmt::format("the label: expected {}, got {}", expected, got));
}

// int64 scalar.
Tensor class_number(const Tensor& label, std::int64_t classes) {
  const std::string expected = fmt::format("a class from 0 to {}", classes - 1);
  if (label.elements() != 1 || !(is_integer(label.dtype()) || label.dtype() == DType::boolean))
    refuse_label(expected + " (one integer)", label.describe());
  if (label.dtype() == DType::boolean) return Tensor::scalar<std::int64_t>(label.values<bool>()[0]);
  const std::int64_t number = integers_of("label", label)[0].value_or(-1);
  if (number < 0 || number >= classes) refuse_label(expected, std::to_string(number));
  return Tensor::scalar(number);
}

Tensor number_of_name(const Tensor& label, const std::vector<std::string>& vocabulary) {
  const std::string expected = fmt::format("one of {}", fmt::join(vocabulary, ", "));
  if (label.elements() != 1 || label.dtype() != DType::string)
    refuse_label(expected + " (text)", label.describe());
  const std::string& name = label.values<std::string>()[0];
  const auto found = std::ranges::find(vocabulary, name);
  if (found == vocabulary.end()) refuse_label(expected, fmt::format("'{}'", name));
  return Tensor::scalar(std::int64_t{found - vocabulary.begin()});
}

Layer named_function(const std::string& name, std::function<Output(Output)> function) {
  return {name, [function = std::move(function)](LayerScope&, Output x) { return function(x); }};
}

Metric renamed(Metric metric, std::string name) {
  metric.name = std::move(name);
  return metric;
}

// The area under the curve is of probabilities.
Metric auc_of_logits() {
  Metric metric = auc();
  metric.of_batch = [of = metric.of_batch](Output logits, Output labels) {
    return of(sigmoid(logits), labels);
  };
  return metric;
}

CompileOptions two_classes() {
  return {
      .loss = sigmoid_cross_entropy(),
      .metrics = {renamed(binary_accuracy(0), "accuracy"), precision(0), recall(0), auc_of_logits()}};
}

std::vector<std::pair<std::string, SymbolicTensor>> predictions_of(const SymbolicTensor& logits,
                                                                   bool one_logit) {
  const auto both = [](Output p) { return concat({1.0 - p, p}, 1); };
  const SymbolicTensor probabilities =
      one_logit ? named_function("probabilities", [both](Output x) { return both(sigmoid(x)); })(logits)
                : named_function("probabilities", [](Output x) { return softmax(x); })(logits);
  const SymbolicTensor ids =
      named_function("class_ids", [](Output x) { return argmax(x, 1); })(probabilities);
  return {{"logits", logits}, {"probabilities", probabilities}, {"class_ids", ids}};
}

void check_classes(std::int64_t n_classes, std::vector<std::string> vocabulary) {
  if (n_classes < 2)
    throw invalid_argument(
        fmt::format("a classifier: expected n_classes of 2 or more, got {}", n_classes));
  if (!vocabulary.empty() && std::ssize(vocabulary) != n_classes)
    throw invalid_argument(
        fmt::format("a classifier: expected a label_vocabulary of {} names, one for each class, got {}",
                    n_classes, vocabulary.size()));
  std::ranges::sort(vocabulary);
  if (const auto twice = std::ranges::adjacent_find(vocabulary); twice != vocabulary.end())
    throw invalid_argument(fmt::format("a classifier: the label_vocabulary has '{}' twice", *twice));
}

Metric mean_of(std::string name, bool of_label) {
  return {std::move(name), [of_label](Output prediction, Output label) {
            return mean(cast(of_label ? label : prediction, DType::float32));
          }};
}

}  // namespace

Head classifier_head(std::int64_t n_classes, const std::vector<std::string>& vocabulary) {
  check_classes(n_classes, vocabulary);
  const bool one_logit = n_classes == 2;
  return {
      one_logit ? 1 : n_classes, [=](const SymbolicTensor& logits, const OptimizerChoice& optimizer) {
        ModelSpec spec{.outputs = {logits}};
        spec.compile = one_logit
                           ? two_classes()
                           : CompileOptions{.loss = softmax_cross_entropy(), .metrics = {accuracy()}};
        spec.compile.optimizer = optimizer;
        spec.predictions = predictions_of(logits, one_logit);
        spec.class_names = vocabulary;
        spec.label = [=](const Tensor& label) {
          return vocabulary.empty() ? class_number(label, n_classes) : number_of_name(label, vocabulary);
        };
        return spec;
      }};
}

Head regression_head(std::int64_t dimension) {
  if (dimension < 1)
    throw invalid_argument(
        fmt::format("a regressor: expected a label_dimension of 1 or more, got {}", dimension));
  return {dimension, [=](const SymbolicTensor& logits, const OptimizerChoice& optimizer) {
            ModelSpec spec{.outputs = {logits}};
            spec.compile = {.loss = mean_squared_error(),
                            .optimizer = optimizer,
                            .metrics = {mean_of("label/mean", true), mean_of("prediction/mean", false)}};
            spec.label = [dimension](const Tensor& label) {
              return numbers_of("label", label, dimension);
            };
            return spec;
          }};
}

}  // namespace actorflow

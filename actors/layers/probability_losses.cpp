// Losses of probabilities.
#include <fmt/format.h>

#include "actors/layers/checks.h"
#include "actors/layers/losses.h"
#include "actors/layers/prediction_pairs.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

constexpr double least_probability = 1e-7;  // Keras' epsilon

Output within_bounds(Output p) { return clip(p, least_probability, 1 - least_probability); }

// The logarithms of rows of probabilities, divided by their sums.
Output log_of_rows(Output p) { return log(within_bounds(p / sum(p, {-1}, true))); }

double check_smoothing(const char* loss, double smoothing) {
  if (!(smoothing >= 0 && smoothing < 1))
    throw invalid_argument(fmt::format(
        "{}: expected a label smoothing of 0 or more and less than 1, got {}", loss, smoothing));
  return smoothing;
}

}  // namespace

Loss sparse_categorical_cross_entropy() {
  return {"sparse_categorical_cross_entropy", [](Output p, Output labels) {
            const auto [rows, classes] = as_classes(p, labels);
            // The logarithms are logits of the same probabilities, and labels out of range are refused.
            const Output loss = softmax_cross_entropy(log_of_rows(rows), classes);
            return labels.shape().rank() > 1 ? reshape(loss, batch_of(labels.shape())) : loss;
          }};
}

Loss categorical_cross_entropy(double label_smoothing) {
  check_smoothing("categorical_cross_entropy", label_smoothing);
  return {"categorical_cross_entropy", [label_smoothing](Output prediction, Output labels) {
            expect_classes(prediction);
            auto [p, label] = as_numbers(prediction, labels);
            const double share = label_smoothing / static_cast<double>(last_dimension(p));
            if (label_smoothing > 0) label = label * (1 - label_smoothing) + share;
            return -sum(label * log_of_rows(p), {-1});
          }};
}

Loss binary_cross_entropy(double label_smoothing) {
  check_smoothing("binary_cross_entropy", label_smoothing);
  return {"binary_cross_entropy", [label_smoothing](Output prediction, Output labels) {
            auto [probability, label] = as_numbers(prediction, labels);
            if (label_smoothing > 0) label = label * (1 - label_smoothing) + label_smoothing / 2;
            const Output p = within_bounds(probability);
            return -(label * log(p) + (1.0 - label) * log(1.0 - p));
          }};
}

Loss kl_divergence() {
  return {"kl_divergence", [](Output prediction, Output labels) {
            const auto [p, label] = as_numbers(prediction, labels);
            const Output true_p = clip(label, least_probability, 1);
            return sum(true_p * log(true_p / clip(p, least_probability, 1)), {-1});
          }};
}

}  // namespace actorflow

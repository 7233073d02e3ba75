#include "actors/layers/losses.h"

#include <fmt/format.h>

#include <numbers>

#include "actors/layers/checks.h"
#include "actors/layers/prediction_pairs.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

// A loss of numbers and their labels of the same shape.
template <class Function>
Loss of_numbers(std::string name, Function function) {
  return {std::move(name), [function](Output prediction, Output labels) {
            const auto [p, label] = as_numbers(prediction, labels);
            return function(p, label);
          }};
}

// 1 - label prediction where that is above 0; labels 0 count as -1.
Output hinge_of(Output p, Output label) {
  const Output zero = scalar_like(p, 0.0);
  const Output sign = select(greater(label, zero), ones_like(label), -ones_like(label));
  return maximum(1.0 - sign * p, zero);
}

}  // namespace

Loss softmax_cross_entropy(double label_smoothing) {
  if (!(label_smoothing >= 0 && label_smoothing < 1))
    throw invalid_argument(
        fmt::format("label smoothing: expected 0 or more and less than 1, got {}", label_smoothing));
  return {"softmax_cross_entropy", [label_smoothing](Output logits, Output labels) {
            expect_logits(logits, "sparse_categorical_cross_entropy");
            const auto [rows, classes] = as_classes(logits, labels);
            Output loss = softmax_cross_entropy(rows, classes);
            if (label_smoothing > 0)
              loss = loss * (1 - label_smoothing) - mean(log_softmax(rows), {1}) * label_smoothing;
            return labels.shape().rank() > 1 ? reshape(loss, batch_of(labels.shape())) : loss;
          }};
}

Loss soft_label_cross_entropy() {
  return of_numbers("soft_label_cross_entropy", [](Output logits, Output labels) {
    expect_logits(logits, "categorical_cross_entropy");
    expect_classes(logits);
    return -sum(log_softmax(logits) * labels, {-1});
  });
}

Loss sigmoid_cross_entropy() {
  // The shorter softplus(logits) - logits * labels loses all digits where the model is sure and right.
  return of_numbers("sigmoid_cross_entropy", [](Output logits, Output labels) {
    expect_logits(logits, "binary_cross_entropy");
    return softplus(-logits) * labels + softplus(logits) * (1.0 - labels);
  });
}

Loss mean_squared_error() {
  return of_numbers("mean_squared_error", [](Output p, Output label) { return square(p - label); });
}

Loss mean_absolute_error() {
  return of_numbers("mean_absolute_error", [](Output p, Output label) { return abs(p - label); });
}

Loss mean_absolute_percentage_error() {
  return of_numbers("mean_absolute_percentage_error", [](Output p, Output label) {
    return abs(label - p) / maximum(abs(label), scalar_like(label, 1e-7)) * 100.0;
  });
}

Loss mean_squared_logarithmic_error() {
  return of_numbers("mean_squared_logarithmic_error", [](Output p, Output label) {
    const auto log_of = [](Output x) { return log(maximum(x, scalar_like(x, 1e-7)) + 1.0); };
    return square(log_of(p) - log_of(label));
  });
}

Loss huber(double delta) {
  if (!(delta > 0))
    throw invalid_argument(fmt::format("huber: expected a delta above 0, got {}", delta));
  return of_numbers("huber", [delta](Output p, Output label) {
    const Output error = abs(p - label);
    const Output inner = minimum(error, scalar_like(error, delta));
    return square(inner) * 0.5 + (error - inner) * delta;
  });
}

// |x| + log((1 + exp(-2 |x|)) / 2), which no large x makes infinite.
Loss log_cosh() {
  return of_numbers("log_cosh", [](Output p, Output label) {
    const Output distance = abs(p - label);
    return distance + softplus(distance * -2.0) - std::numbers::ln2;
  });
}

Loss hinge() { return of_numbers("hinge", hinge_of); }

Loss squared_hinge() {
  return of_numbers("squared_hinge", [](Output p, Output label) { return square(hinge_of(p, label)); });
}

Loss categorical_hinge() {
  return of_numbers("categorical_hinge", [](Output scores, Output labels) {
    const Output own = sum(labels * scores, {-1}), other = max((1.0 - labels) * scores, {-1});
    return maximum(other - own + 1.0, scalar_like(own, 0.0));
  });
}

Loss cosine_similarity() {
  return of_numbers("cosine_similarity", [](Output p, Output label) {
    const auto direction = [](Output x) {
      const Output squares = sum(square(x), {-1}, true);
      return x * rsqrt(maximum(squares, scalar_like(x, 1e-12)));
    };
    return -sum(direction(label) * direction(p), {-1});
  });
}

Loss poisson() {
  return of_numbers("poisson", [](Output p, Output label) { return p - label * log(p + 1e-7); });
}

}  // namespace actorflow

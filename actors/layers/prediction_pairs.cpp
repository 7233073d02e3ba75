#include "actors/layers/prediction_pairs.h"

#include <fmt/format.h>

#include "actors/layers/checks.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// Without a last dimension of 1.
Output squeezed(Output x) {
  Shape shape = batch_of(x.shape());
  return reshape(x, Shape(shape.dims().first(shape.dims().size() - 1)));
}

bool ends_with_one(Output x) { return x.shape().rank() > 1 && x.shape()[x.shape().rank() - 1] == 1; }

bool is_integral(DType dtype) { return dtype != DType::string && !is_floating(dtype); }

// What a model probably needs whose predictions and labels differ in shape.
std::string advice_on(Output prediction, Output label) {
  const int rank = prediction.shape().rank();
  if (rank == label.shape().rank() + 1 && is_integral(label.dtype()))
    return "; of class numbers softmax_cross_entropy() is the loss of logits, "
           "sparse_categorical_cross_entropy() that of probabilities, accuracy() the metric";
  if (rank == label.shape().rank() && rank > 1)
    return "; the last layer needs as many units as a label has numbers";
  return "; this loss or metric takes one label for each number that is predicted";
}

// The same for class numbers.
const char* advice_on_classes(int rank, int rank_of_labels) {
  if (rank > rank_of_labels + 1)
    return "flatten(), or global_avg_pool(), before the last layer leaves one row for each example";
  if (rank > 1 && rank == rank_of_labels)
    return "one-hot rows and probabilities are for soft_label_cross_entropy() of logits, "
           "categorical_cross_entropy() of probabilities and categorical_accuracy()";
  return "read class numbers as int64; StringLookup makes them of texts";
}

}  // namespace

PredictionPair as_numbers(Output prediction, Output label) {
  if (prediction.shape().rank() == label.shape().rank() + 1 && ends_with_one(prediction))
    prediction = squeezed(prediction);
  else if (label.shape().rank() == prediction.shape().rank() + 1 && ends_with_one(label))
    label = squeezed(label);
  if (prediction.shape().rank() != label.shape().rank() ||
      !prediction.shape().compatible_with(label.shape()))
    throw invalid_argument(fmt::format("the model predicts {}, but the labels are {}{}",
                                       prediction.type().to_string(), label.type().to_string(),
                                       advice_on(prediction, label)));
  if (label.dtype() == DType::string)
    throw invalid_argument(
        fmt::format("expected labels that are numbers, got {}; StringLookup makes ids of texts",
                    label.type().to_string()));
  return {prediction, cast(label, DType::float32)};
}

void expect_classes(Output prediction) {
  const int rank = prediction.shape().rank();
  if (rank > 1 && prediction.shape()[rank - 1] != 1) return;
  throw invalid_argument(fmt::format(
      "expected two classes or more along the last axis, got {}; of one number for each example "
      "sigmoid_cross_entropy() is the loss of logits, binary_cross_entropy() that of probabilities, and "
      "binary_accuracy() the metric",
      prediction.type().to_string()));
}

void expect_logits(Output prediction, std::string_view loss_of_probabilities) {
  const std::string_view op = prediction.node().op->name;
  if (op != "Softmax" && op != "Sigmoid") return;
  throw invalid_argument(fmt::format(
      "expected logits, got what {} has made of them; leave that out, or take {}(), the loss "
      "of probabilities",
      op == "Softmax" ? "softmax" : "sigmoid", loss_of_probabilities));
}

PredictionPair as_classes(Output logits, Output labels) {
  const int rank = logits.shape().rank();
  if (labels.dtype() == DType::uint8 || labels.dtype() == DType::int8 || labels.dtype() == DType::int16)
    labels = cast(labels, DType::int32);
  const bool integral = labels.dtype() == DType::int64 || labels.dtype() == DType::int32;
  if (rank < 2 || !integral || (labels.shape().rank() != rank - 1 && !ends_with_one(labels)))
    throw invalid_argument(
        fmt::format("expected logits [batch, ..., classes] and class numbers [batch, ...] of int32 or "
                    "int64, got {} and {}; {}",
                    logits.type().to_string(), labels.type().to_string(),
                    advice_on_classes(rank, labels.shape().rank())));
  expect_classes(logits);
  if (rank > 2) logits = reshape(logits, {-1, last_dimension(logits)});
  if (labels.shape().rank() > 1) labels = reshape(labels, {-1});
  return {logits, labels};
}

}  // namespace actorflow

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

}  // namespace

PredictionPair as_numbers(Output prediction, Output label) {
  if (prediction.shape().rank() == label.shape().rank() + 1 && ends_with_one(prediction))
    prediction = squeezed(prediction);
  else if (label.shape().rank() == prediction.shape().rank() + 1 && ends_with_one(label))
    label = squeezed(label);
  if (prediction.shape().rank() != label.shape().rank() ||
      !prediction.shape().compatible_with(label.shape()))
    throw invalid_argument(fmt::format("the model predicts {}, but the labels are {}",
                                       prediction.type().to_string(), label.type().to_string()));
  return {prediction, cast(label, DType::float32)};
}

PredictionPair as_classes(Output logits, Output labels) {
  const int rank = logits.shape().rank();
  const bool integral = labels.dtype() == DType::int64 || labels.dtype() == DType::int32;
  if (rank < 2 || !integral || (labels.shape().rank() != rank - 1 && !ends_with_one(labels)))
    throw invalid_argument(fmt::format(
        "expected logits [batch, ..., classes] and class numbers [batch, ...] of int32 or "
        "int64, got {} and {}; one-hot rows and probabilities are for soft_label_cross_entropy()",
        logits.type().to_string(), labels.type().to_string()));
  if (rank > 2) logits = reshape(logits, {-1, last_dimension(logits)});
  if (labels.shape().rank() > 1) labels = reshape(labels, {-1});
  return {logits, labels};
}

}  // namespace actorflow

// Predictions beside labels: what losses and metrics do alike.
#pragma once

#include <string_view>

#include "dataflow/graph/graph.h"

namespace actorflow {

struct PredictionPair {
  Output prediction, label;
};

// Both as float32 of one shape: a last dimension of 1 that one of them lacks goes. Throws
// invalid_argument, with both types, if the shapes differ otherwise.
PredictionPair as_numbers(Output prediction, Output label);

// Throws invalid_argument, with the losses and the metric of one number, if the last axis has one class.
void expect_classes(Output prediction);

// Throws invalid_argument, with the loss of probabilities, if softmax() or sigmoid() has made the
// prediction of a loss that takes logits: it would apply that twice.
void expect_logits(Output prediction, std::string_view loss_of_probabilities);

// Logits [n, classes] and labels [n] of [batch, ..., classes] and [batch, ...]. Throws invalid_argument,
// with both types, for others, and what expect_classes() does.
PredictionPair as_classes(Output logits, Output labels);

}  // namespace actorflow

// Predictions beside labels: what losses and metrics do alike.
#pragma once

#include "dataflow/graph/graph.h"

namespace actorflow {

struct PredictionPair {
  Output prediction, label;
};

// Both as float32 of one shape: a last dimension of 1 that one of them lacks goes. Throws
// invalid_argument, with both types, if the shapes differ otherwise.
PredictionPair as_numbers(Output prediction, Output label);

// Logits [n, classes] and labels [n] of [batch, ..., classes] and [batch, ...]. Throws invalid_argument,
// with both types, for others.
PredictionPair as_classes(Output logits, Output labels);

}  // namespace actorflow

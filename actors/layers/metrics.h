// Metrics: what is measured of a model besides its loss.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "actors/layers/losses.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// A metric, which may be one of your own.
struct Metric {
  std::string name;
  // Of a batch: numbers that add up over batches, float32 [k]; or, without `result`, a float32 scalar
  // that is a mean over the batch's examples.
  std::function<Output(Output prediction, Output labels)> of_batch;
  // The metric's value from the sums over all batches.
  std::function<double(std::span<const double> sums)> result{};
  int output = 0;  // the number of the model's output that is measured

  Metric of_output(int number) const;
};

// The share of the examples whose largest logit is that of their class. Throws invalid_argument for one
// number for each example, of which binary_accuracy() is the metric.
Metric accuracy();
// The same for one-hot rows, [batch, ..., classes]: the share of the examples whose largest prediction
// is where their largest label is.
Metric categorical_accuracy();
// The share of the examples whose class is among the k largest logits; ties count as right.
Metric top_k_accuracy(std::int64_t k = 5);
// For predictions [batch] or [batch, 1] against 0 or 1: those above the threshold mean 1. Logits have
// the threshold 0.
Metric binary_accuracy(double threshold = 0.5);
Metric precision(double threshold = 0.5);
Metric recall(double threshold = 0.5);
// The harmonic mean of precision and recall.
Metric f1_score(double threshold = 0.5);
// The area under the receiver operating characteristic of probabilities, by 200 thresholds and
// trapezoids, as Keras has it. The thresholds are from 0 to 1: of a model that predicts logits, as for
// sigmoid_cross_entropy(), say `from_logits`, or the area means nothing.
Metric auc(bool from_logits = false);
// The area under the curve of precision over recall, as Keras' AUC(curve="PR") interpolates it: tells
// more than auc() where one of the classes is rare.
Metric pr_auc(bool from_logits = false);
// Of numbers: the root of the mean squared error, over all predictions.
Metric root_mean_squared_error();
// The coefficient of determination, 1 - squared errors / squared distances of the labels from their
// mean, of predictions [batch] or [batch, k]: the mean over the k columns. 0 for equal labels.
Metric r2_score();
// A loss, as the mean over all predictions.
Metric metric_of(const Loss& loss);

}  // namespace actorflow

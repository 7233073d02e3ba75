// The measurements of a model for a batch.
#pragma once

#include <vector>

#include "actors/layers/layer.h"
#include "actors/models/network/compile_options.h"

namespace actorflow {

// All float32 or float64.
struct Measured {
  Output loss;  // scalar: the mean over the batch, with all penalties
  std::vector<Output> metrics;
};

// What losses and metrics need besides predictions.
struct LabelFeeds {
  std::vector<Output> labels;
  Output sample_weights;  // float32 [n], or empty
  // For a part of a batch; otherwise empty. weights, float32 [n]: those of its examples, 0 for an
  // example that only fills a gap. share, float32 scalar: the divisor of the sum of their losses.
  Output weights, share;
  // Of the predictions: bool [n, steps], or empty. None where no prediction has one.
  std::vector<Output> masks{};
};

// The masks of predictions (LayerScope::mask), for LabelFeeds.
std::vector<Output> masks_of(const ModelPass& pass, const std::vector<Output>& predicted);

// The mean over the examples of the outputs' losses times the outputs' weights, without penalties.
Output loss_of(const CompileOptions& options, const std::vector<Output>& predicted,
               const LabelFeeds& feeds);

// The loss that a layer has added, a mean over a part of a batch, as it counts for the batch: by the
// part's examples, float64, over LabelFeeds::share.
Output by_examples(Output loss, Output examples, Output share);

std::vector<Output> metrics_of(const CompileOptions& options, const std::vector<Output>& predicted,
                               const LabelFeeds& feeds);

// The penalty on a variable that has a regularizer.
Output penalty_of(const ModelVariables::Entry& entry);

// The factor by which a metric of a part of a batch counts, float64 scalar: for a mean the number of
// examples, for a sum 1; 0 without examples.
Output times_of(const Metric& metric, Output examples);

// `value`, floating, or 0 where `has_data`, a bool scalar, is false. Without it: `value`.
Output if_it_has_data(Output value, Output has_data);

// The fetches of a pass: its loss, then the metrics.
std::vector<Output> fetches_of(const Measured& measured);

}  // namespace actorflow

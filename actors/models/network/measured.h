// What a model measures of a batch.
#pragma once

#include <vector>

#include "actors/models/network/compile_options.h"

namespace actorflow {

// All float32 or float64.
struct Measured {
  Output loss;  // scalar: the mean over the batch, with all penalties
  std::vector<Output> metrics;
};

// The placeholders that losses and metrics need besides predictions.
struct LabelFeeds {
  std::vector<Output> labels;
  Output sample_weights;  // float32 [n], or empty
  // Of a part of a batch, else empty. float32 [n]: of its examples; 0 for one that only fills a gap. And
  // float32 scalar: by what the sum of their losses is divided.
  Output weights, share;
};

// The mean over the examples of what the outputs cost, times the outputs' weights, without penalties.
Output loss_of(const CompileOptions& options, const std::vector<Output>& predicted,
               const LabelFeeds& feeds);

std::vector<Output> metrics_of(const CompileOptions& options, const std::vector<Output>& predicted,
                               const LabelFeeds& feeds);

// How often a metric of a part of a batch counts: a mean by the examples, a sum once; neither without
// examples. float64 scalars.
Output times_of(const Metric& metric, Output examples);

// The fetches of a pass: its loss, then the metrics.
std::vector<Output> fetches_of(const Measured& measured);

}  // namespace actorflow

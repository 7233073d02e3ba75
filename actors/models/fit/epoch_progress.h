// What the chief of a fit() by several replicas knows of the present epoch. For ClusterFit only.
#pragma once

#include <optional>
#include <vector>

#include "actors/models/logs/progress_line.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// The number of the epoch, and of its batches that are trained, are the model's (FitProgress).
struct EpochProgress {
  // Of the epoch that began last; none if no epoch has begun in this process.
  std::optional<ProgressLine> line{};
  // The next step begins an epoch: before it callbacks hear so. Not earlier: a checkpoint of the end of
  // an epoch may not have what they change then, as they do so again when training goes on from it.
  bool begins = false;
  std::optional<double> rate_before{};  // the learning rate when it began, if callbacks can set it

  // What the chief measured in its last step: the loss, then the metrics. Empty before its first step.
  std::vector<Tensor> last_values{};
  bool sum_is_finite = true;     // the losses of all replicas, as far as callbacks know
  std::optional<Tensor> sums{};  // taken at its end, which the loss of a task has interrupted

  std::optional<int> told{};  // the last epoch of whose end callbacks have heard; none: not known
  int began_within = 0;       // the epoch in whose middle training began, from a backup; 0: none
};

}  // namespace actorflow

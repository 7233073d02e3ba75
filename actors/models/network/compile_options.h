// How a model is trained, wherever that is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/layers/losses.h"
#include "actors/layers/metrics.h"
#include "dataflow/graph/precision.h"
#include "dataflow/ops/optimizer.h"
#include "dataflow/train/optimizer_choice.h"
#include "kernels/library/library.h"

namespace actorflow {

// A learning rate that follows the number of the step, from 0 on: a float64 scalar, such as
// exponential_decay(0.1, step, 1000, 0.5) of kernels/ops/learning_rate.h.
using LearningRateSchedule = std::function<Output(Output step)>;

struct CompileOptions {
  Losses loss{};
  std::vector<double> loss_weights{};  // of the outputs' losses; none: 1 each
  OptimizerChoice optimizer = Adam{};
  LearningRateSchedule learning_rate{};  // none: the optimizer's, which callbacks may change
  std::vector<Metric> metrics{};
  // Clipping of the gradients, by one of these at most (kernels/ops/clipping.h); 0 = not. What is
  // clipped is the gradient of the whole batch, also under Mirrored, MultiWorkerMirrored and
  // ElasticMirrored. With ParameterServer and a replicated Pipeline each replica clips its own before
  // the mean is taken.
  double clip_value = 0;        // each element is kept within [-clip_value, clip_value]
  double clip_norm = 0;         // the largest norm of each variable's gradient
  double clip_global_norm = 0;  // the largest norm of all gradients together
  bool sample_weights = false;  // examples end with a weight, by which their loss is multiplied
  Precision precision = Precision::float32;  // of products; variables and sums stay float32
  // The device that computes in each task, such as "gpu:0". A CPU for "", and in a task without that
  // device. The stages of a Pipeline have devices of their own.
  std::string device{};
  std::uint64_t seed = 1;                    // of the weights, and of dropout
  Extensions extensions{};                   // ops and optimizers of the program's own
};

}  // namespace actorflow

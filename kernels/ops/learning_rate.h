// Learning rates that follow the global step, for apply_gradients() and minimize(). The formulas and
// names are those of TensorFlow 1.x (python/training/learning_rate_decay.py).
//
// Each adds a few nodes on the device of the scope and returns a float64 scalar. `step` is an int64
// scalar, usually the global step. Invalid numbers throw invalid_argument.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// initial * rate ^ (step / decay_steps); with `staircase` the quotient is rounded down.
Output exponential_decay(double initial, Output step, std::int64_t decay_steps, double rate,
                         bool staircase = false);

// initial / (1 + rate * step / decay_steps); with `staircase` the quotient is rounded down.
Output inverse_time_decay(double initial, Output step, std::int64_t decay_steps, double rate,
                          bool staircase = false);

// (initial - end) * (1 - min(step, decay_steps) / decay_steps) ^ power + end.
Output polynomial_decay(double initial, Output step, std::int64_t decay_steps, double end = 1e-4,
                        double power = 1);

// initial * (alpha + (1 - alpha) * (1 + cos(pi * min(step, decay_steps) / decay_steps)) / 2).
Output cosine_decay(double initial, Output step, std::int64_t decay_steps, double alpha = 0);

// A rate that begins as `from` times itself and grows evenly over the first steps: rate * (from + (1 -
// from) * min(step, warmup_steps) / warmup_steps). Goyal et al., Accurate, Large Minibatch SGD, 2017.
Output linear_warmup(Output rate, Output step, std::int64_t warmup_steps, double from = 0);
Output linear_warmup(double rate, Output step, std::int64_t warmup_steps, double from = 0);

// values[0] up to and including step boundaries[0], values[1] up to boundaries[1], ..., then the last.
// There is one value more than boundaries, which must ascend.
Output piecewise_constant(Output step, const std::vector<std::int64_t>& boundaries,
                          const std::vector<double>& values);

}  // namespace actorflow

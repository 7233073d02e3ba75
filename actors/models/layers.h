// Layers of convolutional models: each function adds a layer to the graph of its input, and its
// variables to a LayerState. Images are [batch, height, width, channels].
//
// The names of variables follow from the order of the calls, so that a second graph built alike, for
// testing, reads the variables that the first one trains.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/graph/graph.h"
#include "kernels/ops.h"

namespace actorflow {

// The shared state of a model's layers.
struct LayerState {
  std::uint64_t seed = 1;  // of the next layer's weights
  // True: batch normalisation uses the statistics of the batch, and adds to `updates`. False: it uses
  // the moving averages.
  bool training = true;
  std::vector<Variable> variables = {};  // trained
  std::vector<Output> updates = {};      // of the moving averages; to be run with each training step
};

struct ConvOptions {
  Extent window = 3;
  Extent strides = 1;
  bool bias = true;
  Padding padding = Padding::same;
};

// A convolution. Weights begin as He et al. 2015 propose for relu, biases as 0.
Output conv_layer(LayerState& state, Output x, std::int64_t filters, const ConvOptions& options = {});
// x [batch, features] -> [batch, units].
Output dense_layer(LayerState& state, Output x, std::int64_t units);
// Batch normalisation. Scale begins as 1, offset as 0. `relu` and `side`, which is added before the
// relu, cost little here: see batch_norm(). Each step keeps 0.9 of a moving average.
Output batch_norm_layer(LayerState& state, Output x, bool relu = false, Output side = {});
// [batch, height, width, channels] -> [batch, channels].
Output global_average_pool(Output x);
// [batch, ...] -> [batch, all the rest].
Output flatten(Output x);

}  // namespace actorflow

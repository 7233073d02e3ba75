// Convolutional classifiers of small images.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/layers/functional.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// The nodes that a program feeds and fetches. The number of examples, n, may differ from step to step.
struct ImageClassifier {
  Output x;         // fed: float32 [n, height, width, channels]
  Output labels;    // fed: int64 [n], below 10
  Output logits;    // float32 [n, 10]
  Output loss;      // float32 scalar: mean softmax cross-entropy
  Output accuracy;  // float32 scalar: share of the examples whose largest logit is their label's
  std::vector<Variable> variables;
  std::vector<Output> updates;  // targets of each training step: moving averages
};

// Convolutions 5x5 of 32 and of 64 filters, each with bias, 2x2 maximum and relu, then dense layers of
// 512 (relu) and 10, after LeCun et al. 1998. (The maximum of a relu is the relu of the maximum.) For
// images of 28x28 grey values.
Architecture lenet();
// He et al. 2016, section 4.2, n = 3: 3x3 convolutions with batch normalisation in three stages of three
// residual blocks, of 16, 32 and 64 channels, and shortcuts without weights (option A). For images of
// 32x32 in 3 colours.
Architecture resnet20();

// The same in a graph of the program's own. `training` = false: with the moving averages, for testing.
ImageClassifier make_lenet(Graph& graph, std::uint64_t seed);
ImageClassifier make_resnet20(Graph& graph, std::uint64_t seed, bool training = true);

}  // namespace actorflow

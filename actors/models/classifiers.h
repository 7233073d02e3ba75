// Classifiers of small images: what they compute, and their nodes for a graph of the program's own.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/layers/functional.h"
#include "actors/layers/losses.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// Dense layers "hidden1", "hidden2", ... of these sizes with relu, then "logits". Weights begin as He et
// al. 2015 (hidden layers) and Glorot and Bengio 2010 (logits) propose, biases as 0. For images of any
// size, or rows of features.
Architecture mlp(const std::vector<std::int64_t>& hidden, std::int64_t classes = 10);
// Convolutions 5x5 of 32 and of 64 filters, each with bias, 2x2 maximum and relu, then dense layers of
// 512 (relu) and `classes`, after LeCun et al. 1998. (The maximum of a relu is the relu of the maximum.)
// `image` is [height, width, channels].
Architecture lenet(const Shape& image = {28, 28, 1}, std::int64_t classes = 10);
// An LSTM of so many units that reads the rows of an image [height, width, channels] from the first to
// the last, each as a step, then a dense layer.
Architecture row_lstm(const Shape& image = {28, 28, 1}, std::int64_t classes = 10,
                      std::int64_t units = 128);
// He et al. 2016, section 4.2, n = 3: 3x3 convolutions with batch normalisation in three stages of three
// residual blocks, of 16, 32 and 64 channels, and shortcuts without weights (option A). The regularizer
// is of all filters and of the last layer's weights; images/recipe.h says how it was trained.
Architecture resnet20(const Shape& image = {32, 32, 3}, std::int64_t classes = 10,
                      const Regularizer& regularizer = {});

// What a classifier says of a batch.
struct ClassifierPass {
  Output logits;    // float32 [n, ..., classes]
  Output loss;      // float32 scalar: mean softmax cross-entropy, and the layers' penalties
  Output accuracy;  // float32 scalar: share of the labels that have the largest logit
};

// The nodes that a program feeds and fetches. The number of examples, n, may differ from step to step.
struct Classifier {
  Output x;       // fed: [n, the shape of an example]
  Output labels;  // fed: int64 [n, the shape of a label], from 0 on
  ClassifierPass test;
  ClassifierPass train;         // with the batch's own statistics, and dropout; empty if only tested
  std::vector<Output> updates;  // targets of each training step: moving averages
  ModelVariables variables;
};

struct ClassifierOptions {
  std::uint64_t seed = 1;               // of the weights, and of what is random in training
  bool training = true;                 // false: only `test`
  Loss loss = softmax_cross_entropy();  // of training
  Shape label{};                        // of one example
  // The global step, for layers that draw anew in each step, each replica on its own.
  Output step{};
  int replica = 0;
};

// Adds the nodes of a model with one output, logits. `example` is the type of one, without the batch's
// dimension; a shape is of float32. Throws what Architecture::build() throws.
Classifier make_classifier(Graph& graph, const Architecture& architecture, const TensorType& example,
                           const ClassifierOptions& options = {});
Classifier make_classifier(Graph& graph, const Architecture& architecture, const Shape& example,
                           const ClassifierOptions& options = {});

}  // namespace actorflow

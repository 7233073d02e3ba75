// A multi-layer perceptron for labelled images.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// The nodes that a program feeds and fetches. The number of examples, n, may differ from step to step.
struct Mlp {
  Output x;         // fed: float32 [n, features]
  Output labels;    // fed: int64 [n], below `classes`
  Output logits;    // float32 [n, classes]
  Output loss;      // float32 scalar: mean softmax cross-entropy
  Output accuracy;  // float32 scalar: share of the examples whose largest logit is their label's
  std::vector<Variable> variables;
};

// Dense layers of the sizes in `hidden` with relu, then one of `classes` logits. Weights begin as He et
// al. 2015 (hidden layers) and Glorot and Bengio 2010 (logits) propose, drawn from `seed`; biases as 0.
Mlp make_mlp(Graph& graph, std::int64_t features, const std::vector<std::int64_t>& hidden,
             std::int64_t classes, std::uint64_t seed);

}  // namespace actorflow

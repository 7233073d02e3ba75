// The values with which a model's variables begin.
#pragma once

#include <cstdint>
#include <functional>

#include "dataflow/graph/graph.h"

namespace actorflow {

// Adds a float32 tensor of this shape to the graph. The same seed gives the same values.
using Initializer = std::function<Output(Graph& graph, const Shape& shape, std::uint64_t seed)>;

// The numbers of inputs and outputs of a unit that weights of this shape connect: [in, out], or [height,
// width, in, out] of a convolution.
struct Fans {
  double in = 1, out = 1;
};
Fans fans_of(const Shape& shape);

Initializer zeros();
Initializer ones();
Initializer filled_with(double value);
Initializer uniform(double low, double high);
Initializer normal(double stddev, double mean = 0);
// Glorot and Bengio 2010: of the variance 2 / (fan in + fan out). The normal ones are truncated at two
// standard deviations, and scaled so that they have that variance.
Initializer glorot_uniform();
Initializer glorot_normal();
// He et al. 2015: of the variance 2 / fan in, for relu.
Initializer he_uniform();
Initializer he_normal();
// LeCun et al. 1998: of the variance 1 / fan in.
Initializer lecun_normal();
// Saxe et al. 2014: a random matrix whose rows, or columns if they are fewer, are orthogonal and of
// length `gain`. Of more than two dimensions the last one is that of the columns. REQUIRES: a dimension.
Initializer orthogonal(double gain = 1);

}  // namespace actorflow

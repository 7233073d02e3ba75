#include "actors/layers/initializer.h"

#include <cmath>

#include "kernels/ops.h"

namespace actorflow {
namespace {

using Variance = double (*)(const Fans&);

double glorot(const Fans& fans) { return 2 / (fans.in + fans.out); }
double he(const Fans& fans) { return 2 / fans.in; }
double lecun(const Fans& fans) { return 1 / fans.in; }

// The standard deviation of a normal distribution of deviation 1 that is cut at -2 and 2.
constexpr double cut_deviation = 0.87962566103423978;

Initializer scaled_uniform(Variance variance) {
  return [variance](Graph& graph, const Shape& shape, std::uint64_t seed) {
    const double limit = std::sqrt(3 * variance(fans_of(shape)));
    return random_uniform(graph, shape, -limit, limit, seed);
  };
}

Initializer scaled_normal(Variance variance) {
  return [variance](Graph& graph, const Shape& shape, std::uint64_t seed) {
    const double stddev = std::sqrt(variance(fans_of(shape))) / cut_deviation;
    return truncated_normal(graph, shape, 0, stddev, seed);
  };
}

}  // namespace

Fans fans_of(const Shape& shape) {
  if (shape.rank() == 0) return {};
  if (shape.rank() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double window = 1;
  for (int axis = 0; axis < shape.rank() - 2; ++axis) window *= static_cast<double>(shape[axis]);
  return {window * static_cast<double>(shape[shape.rank() - 2]),
          window * static_cast<double>(shape[shape.rank() - 1])};
}

Initializer filled_with(double value) {
  return [value](Graph& graph, const Shape& shape, std::uint64_t) { return fill(graph, shape, value); };
}

Initializer zeros() { return filled_with(0); }
Initializer ones() { return filled_with(1); }

Initializer uniform(double low, double high) {
  return [=](Graph& graph, const Shape& shape, std::uint64_t seed) {
    return random_uniform(graph, shape, low, high, seed);
  };
}

Initializer normal(double stddev, double mean) {
  return [=](Graph& graph, const Shape& shape, std::uint64_t seed) {
    return random_normal(graph, shape, mean, stddev, seed);
  };
}

Initializer glorot_uniform() { return scaled_uniform(glorot); }
Initializer glorot_normal() { return scaled_normal(glorot); }
Initializer he_uniform() { return scaled_uniform(he); }
Initializer he_normal() { return scaled_normal(he); }
Initializer lecun_normal() { return scaled_normal(lecun); }

}  // namespace actorflow

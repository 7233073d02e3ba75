#include "actors/layers/initializer.h"

#include <algorithm>
#include <cmath>

#include "dataflow/graph/precision.h"
#include "kernels/control/control_flow.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

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

// Of a matrix of normally distributed elements the nearest orthogonal one is distributed uniformly among
// all of them. Newton's and Schulz' iteration, X <- (3 X - X X^T X) / 2, goes there from every X whose
// singular values are below sqrt(3) (Higham, Functions of Matrices, 2008, section 8.3).
Initializer orthogonal(double gain) {
  return [gain](Graph& graph, const Shape& shape, std::uint64_t seed) {
    return graph.precision(Precision::float32, [&] {
      const std::int64_t wide = shape[shape.rank() - 1], tall = shape.elements() / wide;
      const std::int64_t few = std::min(wide, tall), many = std::max(wide, tall);
      const Output drawn = random_normal(graph, {few, many}, 0, 1, seed);
      const Output identity = one_hot(range(graph, 0, few), few);
      const auto product = [](Output x) { return matmul(x, x, false, true); };
      const auto is_far = [&](const LoopVariables& v) {
        return max(abs(product(v[0]) - identity)) > 1e-5;
      };
      const auto nearer = [&](const LoopVariables& v) {
        return v[0] * 1.5 - matmul(product(v[0]), v[0]) * 0.5;
      };
      const Output rows = while_loop(is_far, nearer, drawn * rsqrt(sum(square(drawn)))) * gain;
      return reshape(tall > wide ? transpose(rows) : rows, shape);
    });
  };
}

}  // namespace actorflow

// The matrix products of a perceptron's training step, alone in oneDNN: the lower bound of a step.
#pragma once

#include <cstdint>
#include <vector>

namespace actorflow::bench {

// Sizes of the layers of a perceptron, the inputs first and the classes last, and of its batch.
struct Layers {
  std::vector<std::int64_t> sizes;
  std::int64_t batch;
};

// Steps per second if a step were nothing but its products, on that many OpenMP threads.
double product_steps_per_second(const Layers& layers, int threads, int steps);

}  // namespace actorflow::bench

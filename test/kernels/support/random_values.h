// Tensors of random numbers.
#pragma once

#include <random>

#include "dataflow/values/tensor.h"

namespace actorflow::test {

// float32, normally distributed; the same for the same seed.
inline Tensor random_values(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Tensor tensor = Tensor::allocate(DType::float32, shape);
  for (float& value : tensor.mutable_values<float>()) value = normal(random);
  return tensor;
}

}  // namespace actorflow::test

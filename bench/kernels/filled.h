// Operands of kernels' benchmarks.
#pragma once

#include "dataflow/values/tensor.h"
#include "kernels/devices/device.h"

namespace actorflow::bench {

// float32 that rises from -limit to limit, and begins again.
inline Tensor filled(const Shape& shape, float limit = 4) {
  Tensor tensor = Tensor::allocate(DType::float32, shape, cpu_device().allocator());
  float value = -limit;
  for (float& element : tensor.mutable_values<float>())
    element = value = value > limit ? -limit : value + 0.0123F;
  return tensor;
}

}  // namespace actorflow::bench

#include "bench/data.h"

#include <cstdint>

#include "apps/cli/data_folder.h"
#include "kernels/devices/device.h"

namespace actorflow::bench {

const ImageData& mnist() {
  static const ImageData data = load_images(default_data_folder());
  return data;
}

Tensor random_numbers(const Shape& shape, float least) {
  Tensor tensor = Tensor::allocate(DType::float32, shape, cpu_device().allocator());
  std::uint32_t state = 1;
  for (float& number : tensor.mutable_values<float>()) {
    state = state * 1664525 + 1013904223;
    number = static_cast<float>(state >> 8) / 16777216.0F + least;
  }
  return tensor;
}

}  // namespace actorflow::bench

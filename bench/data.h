// The data of the benchmarks.
#pragma once

#include "apps/training/data/images.h"

namespace actorflow::bench {

// MNIST from the project's own folder; loaded when it is first asked for. Thread-safe.
const ImageData& mnist();

// float32 from `least` to below least + 1, the same each time. Measurements do not depend on the values,
// as long as they are not all 0, which a GPU multiplies faster.
Tensor random_numbers(const Shape& shape, float least);

}  // namespace actorflow::bench

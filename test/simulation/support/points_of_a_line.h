// Data whose last batch of an epoch is smaller, for batches of 12.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow::test {

// y = 2 x + 1 at 30 places: float32[30,1] each.
inline std::pair<Tensor, Tensor> points_of_a_line() {
  constexpr std::int64_t count = 30;
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(static_cast<float>(i) / 10 - 1);
    y.push_back(2 * x.back() + 1);
  }
  return {Tensor::of<float>({count, 1}, x), Tensor::of<float>({count, 1}, y)};
}

}  // namespace actorflow::test

#include "actors/models/images/whitening.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "actors/models/images/symmetric_eigen.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr double least_variance = 5e-4;  // is added, or noise would be made as large as what is seen

struct Patches {
  const Tensor& images;
  std::int64_t window, count;

  std::int64_t size() const { return window * window * images.shape()[3]; }
};

void check(const Tensor& images, std::int64_t window) {
  const Shape& shape = images.shape();
  if (shape.rank() != 4 || shape[0] < 1 || window < 1 || window > std::min(shape[1], shape[2]))
    throw invalid_argument(fmt::format(
        "whitening_filters: expected images [count, height, width, channels] and a window of "
        "1 or more that they hold, got {} and {}",
        images.describe(), window));
}

template <class T>
double number_of(T pixel) {
  if constexpr (std::is_same_v<T, std::uint8_t>) return pixel * (4.0 / 255) - 2;
  return pixel * 4.0 - 2;
}

// The mean of x x^T over the patches x.
template <class T>
SymmetricMatrix second_moments(const Patches& patches) {
  const Shape& shape = patches.images.shape();
  const std::int64_t rows = shape[1], columns = shape[2], width = patches.window * shape[3];
  const auto pixels = patches.images.values<T>();
  SymmetricMatrix sums(patches.size());
  std::vector<double> patch;
  for (std::int64_t image = 0; image < patches.count; ++image)
    for (std::int64_t y = 0; y + patches.window <= rows; ++y)
      for (std::int64_t x = 0; x + patches.window <= columns; ++x) {
        patch.clear();
        for (std::int64_t row = y; row < y + patches.window; ++row) {
          const std::int64_t first = ((image * rows + row) * columns + x) * shape[3];
          for (const T pixel :
               pixels.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(width)))
            patch.push_back(number_of(pixel));
        }
        sums.add_square(patch);
      }
  const std::int64_t places = (rows - patches.window + 1) * (columns - patches.window + 1);
  sums.scale(1 / static_cast<double>(patches.count * places));
  return sums;
}

}  // namespace

Tensor whitening_filters(const Tensor& images, std::int64_t window, std::int64_t most_images) {
  check(images, window);
  const Patches patches{images, window, std::min(most_images, images.shape()[0])};
  const Eigen eigen = eigen_of(images.dtype() == DType::uint8 ? second_moments<std::uint8_t>(patches)
                                                              : second_moments<float>(patches));
  const std::int64_t size = patches.size();
  Tensor filters = Tensor::allocate(DType::float32, {window, window, images.shape()[3], 2 * size});
  const auto values = filters.mutable_values<float>();
  for (std::int64_t place = 0; place < size; ++place)
    for (std::int64_t i = 0; i < size; ++i) {
      const double deviation = std::sqrt(eigen.values[static_cast<std::size_t>(i)] + least_variance);
      const auto weight = static_cast<float>(eigen.vectors.at(place, i) / deviation);
      values[static_cast<std::size_t>(place * 2 * size + i)] = weight;
      values[static_cast<std::size_t>(place * 2 * size + size + i)] = -weight;
    }
  return filters;
}

}  // namespace actorflow

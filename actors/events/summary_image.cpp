#include "actors/events/summary_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// As TensorFlow's image summary. A range that overflows float32 does not overflow here.
struct Scale {
  double factor = 0, offset = 0;

  explicit Scale(std::span<const float> pixels) {
    double low = 0, high = 0;
    for (const float pixel : pixels)
      if (std::isfinite(pixel)) {
        low = std::min<double>(low, pixel);
        high = std::max<double>(high, pixel);
      }
    if (low < 0) {
      factor = 127 / std::max(high, -low);
      offset = 128;
    } else if (high > 0) {
      factor = 255 / high;
    }
  }
  std::uint8_t operator()(float pixel) const {
    return std::isfinite(pixel)
               ? static_cast<std::uint8_t>(std::min(std::round(pixel * factor + offset), 255.0))
               : 0;
  }
};

std::vector<std::uint8_t> to_bytes(std::span<const float> pixels) {
  std::vector<std::uint8_t> bytes(pixels.size());
  std::ranges::transform(pixels, bytes.begin(), Scale(pixels));
  return bytes;
}

template <class T>
std::span<const T> pixels_of(const Tensor& images, std::int64_t index) {
  const std::int64_t size = images.elements() / images.shape()[0];
  return images.values<T>().subspan(static_cast<std::size_t>(index * size),
                                    static_cast<std::size_t>(size));
}

bool is_drawable(const Tensor& images) {
  constexpr std::int64_t max_side = 1 << 16;
  const Shape& shape = images.shape();
  if (images.dtype() != DType::float32 && images.dtype() != DType::uint8) return false;
  if (shape.rank() != 4 || shape[1] < 1 || shape[2] < 1) return false;
  return shape[1] <= max_side && shape[2] <= max_side &&
         (shape[3] == 1 || shape[3] == 3 || shape[3] == 4);
}

}  // namespace

ImageSummary image_summary(const std::string& tag, const Tensor& images, std::int64_t index) {
  if (!is_drawable(images))
    throw invalid_argument(fmt::format(
        "summary '{}': expected float32 or uint8 images [batch,height,width,channels] of 1, 3 "
        "or 4 channels and at most 65536 pixels a side, got {}",
        tag, images.describe()));
  const Shape& shape = images.shape();
  const auto height = static_cast<int>(shape[1]), width = static_cast<int>(shape[2]),
             channels = static_cast<int>(shape[3]);
  if (images.dtype() == DType::uint8)
    return encode_image(height, width, channels, pixels_of<std::uint8_t>(images, index));
  return encode_image(height, width, channels, to_bytes(pixels_of<float>(images, index)));
}

}  // namespace actorflow

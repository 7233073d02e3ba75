#include "actors/models/images/augmentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/devices/device.h"

namespace actorflow {
namespace {

// The output function of SplitMix64 (Steele et al. 2014): a small change of x changes about half of the
// bits.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

std::uint64_t drawn(std::uint64_t seed, std::int64_t pass, std::int64_t number) {
  constexpr std::uint64_t step = 0x9E3779B97F4A7C15u;
  const std::uint64_t of_pass = mixed(seed * step + static_cast<std::uint64_t>(pass));
  return mixed(of_pass * step + static_cast<std::uint64_t>(number));
}

// For each place along an axis of the result the place in the image that is seen there; -1: none.
std::vector<std::int64_t> seen_places(std::int64_t size, std::int64_t shift, Border border) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = shift; i < size + shift; ++i) {
    const bool inside = i >= 0 && i < size;
    const std::int64_t reflection = i < 0 ? -i : 2 * size - 2 - i;
    places.push_back(inside ? i : border == Border::reflected ? reflection : -1);
  }
  return places;
}

class AugmentStage final : public Stage {
 public:
  AugmentStage(StageRef input, const ImageAugmentation& how) : input_(std::move(input)), how_(how) {}

  void restart(std::int64_t pass) override {
    pass_ = pass;
    input_->restart(pass);
  }
  bool next(Tuple& element) override {
    if (!input_->next(element)) return false;
    check(element);
    element[0] = changed(element[0], element.back().scalar<std::int64_t>());
    element.pop_back();
    return true;
  }
  std::int64_t skip(std::int64_t count) override { return input_->skip(count); }

 private:
  void check(const Tuple& element) const {
    const bool fits = element.size() >= 2 && element[0].shape().rank() == 3 &&
                      element[0].dtype() != DType::string && element[0].elements() > 0 &&
                      element.back().dtype() == DType::int64 && element.back().shape().rank() == 0;
    if (!fits)
      throw invalid_argument(
          fmt::format("augmented: expected an image [height, width, channels], and at "
                      "the end its number, int64, got {}",
                      describe(element)));
    const Shape& image = element[0].shape();
    if (how_.border == Border::reflected && how_.padding >= std::min(image[0], image[1]))
      throw invalid_argument(
          fmt::format("augmented: images of {} cannot be reflected over {} pixels; choose less padding",
                      image.to_string(), how_.padding));
  }

  bool mirrors(std::int64_t number, std::uint64_t random) const {
    if (how_.mirroring == Mirroring::random) return (random & 1) == 1;
    const std::uint64_t turn = drawn(how_.seed, -1, number) + static_cast<std::uint64_t>(pass_);
    return how_.mirroring == Mirroring::by_turns && (turn & 1) == 1;
  }

  Tensor changed(const Tensor& image, std::int64_t number) const {
    const std::uint64_t random = drawn(how_.seed, pass_, number);
    const auto places = static_cast<std::uint64_t>(2 * how_.padding + 1);
    const auto down = static_cast<std::int64_t>((random >> 32) % places) - how_.padding;
    const auto right = static_cast<std::int64_t>((random >> 8 & 0xFFFFFF) % places) - how_.padding;
    const Shape& shape = image.shape();
    const auto rows = seen_places(shape[0], down, how_.border);
    auto columns = seen_places(shape[1], right, how_.border);
    if (mirrors(number, random)) std::ranges::reverse(columns);
    return picked(image, rows, columns);
  }

  static Tensor picked(const Tensor& image, const std::vector<std::int64_t>& rows,
                       const std::vector<std::int64_t>& columns) {
    Tensor result = Tensor::allocate(image.dtype(), image.shape(), cpu_device().allocator());
    const std::size_t pixel = image.size_bytes() / (rows.size() * columns.size());
    const auto* from = static_cast<const std::byte*>(image.data());
    auto* to = static_cast<std::byte*>(result.mutable_data());
    for (const std::int64_t row : rows)
      for (const std::int64_t column : columns) {
        const auto place =
            static_cast<std::size_t>(row) * columns.size() + static_cast<std::size_t>(column);
        if (row < 0 || column < 0)
          std::memset(to, 0, pixel);
        else
          std::memcpy(to, from + place * pixel, pixel);
        to += pixel;
      }
    return result;
  }

  StageRef input_;
  ImageAugmentation how_;
  std::int64_t pass_ = 0;
};

Tensor as_int64(const Tensor& labels) {
  if (labels.dtype() == DType::int64) return labels;
  Tensor numbers = Tensor::allocate(DType::int64, labels.shape());
  std::ranges::copy(labels.values<std::uint8_t>(), numbers.mutable_values<std::int64_t>().begin());
  return numbers;
}

Tuple with_scaled_pixels(Tuple element) {
  Tensor image = Tensor::allocate(DType::float32, element[0].shape(), cpu_device().allocator());
  std::ranges::transform(element[0].values<std::uint8_t>(), image.mutable_values<float>().begin(),
                         [](std::uint8_t pixel) { return static_cast<float>(pixel) * (1.0f / 255.0f); });
  element[0] = std::move(image);
  return element;
}

}  // namespace

Dataset augmented(const Dataset& numbered, const ImageAugmentation& how) {
  if (how.padding < 0)
    throw invalid_argument(
        fmt::format("augmented: expected a padding of 0 or more, got {}", how.padding));
  return numbered.then([how](StageRef input, const InputContext&) -> StageRef {
    return std::make_unique<AugmentStage>(std::move(input), how);
  });
}

Dataset augmented_images(const Tensor& images, const Tensor& labels, const ImageAugmentation& how) {
  if (images.dtype() != DType::uint8 && images.dtype() != DType::float32)
    throw invalid_argument("augmented_images: expected images of uint8 or float32, got " +
                           images.describe());
  Tensor numbers = Tensor::allocate(DType::int64, labels.shape());
  const auto all = numbers.mutable_values<std::int64_t>();
  std::iota(all.begin(), all.end(), 0);
  const Dataset shuffled =
      Dataset::tensors({images, as_int64(labels), numbers}).shuffle({.seed = how.seed});
  const Dataset changed = augmented(shuffled, how);
  return images.dtype() == DType::uint8 ? changed.map(with_scaled_pixels) : changed;
}

}  // namespace actorflow

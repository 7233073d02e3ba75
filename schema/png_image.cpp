#include "schema/png_image.h"

#include <png.h>

#include <array>
#include <string>

#include "dataflow/values/error.h"
#include "schema/event.h"

namespace actorflow {
namespace {

constexpr std::array<png_uint_32, 4> formats = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                                PNG_FORMAT_RGBA};

[[noreturn]] void fail(const png_image& image) {
  throw Error(Code::internal, std::string("libpng cannot write the image: ") + image.message);
}

// libpng's memory of an image that is read, given back whatever happens.
struct PngReader : png_image {
  explicit PngReader(std::string_view png) : png_image{} {
    version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(this, png.data(), png.size())) fail();
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_image_free(this); }

  [[noreturn]] void fail() const {
    throw Error(Code::data_loss, std::string("expected a PNG image: ") + message);
  }
};

}  // namespace

Tensor decode_png(std::string_view png, std::int64_t max_bytes) {
  PngReader image(png);
  image.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
  const Shape shape{image.height, image.width, PNG_IMAGE_SAMPLE_CHANNELS(image.format)};
  const auto bytes = std::uint64_t{image.height} * image.width * PNG_IMAGE_SAMPLE_CHANNELS(image.format);
  if (bytes > static_cast<std::uint64_t>(max_bytes))
    throw Error(Code::resource_exhausted, "a PNG image of " + shape.to_string() + " has " +
                                              std::to_string(bytes) + " bytes, above the limit of " +
                                              std::to_string(max_bytes));
  Tensor pixels = Tensor::allocate(DType::uint8, shape);
  if (!png_image_finish_read(&image, nullptr, pixels.mutable_values<std::uint8_t>().data(), 0, nullptr))
    image.fail();
  return pixels;
}

ImageSummary encode_image(int height, int width, int channels, std::span<const std::uint8_t> pixels) {
  const auto wanted = static_cast<std::int64_t>(height) * width * static_cast<std::int64_t>(channels);
  if (height < 1 || width < 1 || channels < 1 || channels > 4 ||
      wanted != static_cast<std::int64_t>(pixels.size()))
    throw invalid_argument("expected an image of 1 to 4 channels and one byte for each element, got [" +
                           std::to_string(height) + "," + std::to_string(width) + "," +
                           std::to_string(channels) + "] and " + std::to_string(pixels.size()) +
                           " bytes");
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = formats[static_cast<std::size_t>(channels - 1)];
  std::string png(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = png.size();
  if (!png_image_write_to_memory(&image, png.data(), &size, 0, pixels.data(), 0, nullptr)) fail(image);
  png.resize(size);
  return {height, width, channels, std::move(png)};
}

}  // namespace actorflow

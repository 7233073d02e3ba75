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

}  // namespace

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

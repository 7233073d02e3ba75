#include "schema/formats/png.h"

#include <png.h>

#include <string>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

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

}  // namespace actorflow

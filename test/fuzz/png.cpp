// PNG images.
#include "schema/formats/png.h"
#include "test/fuzz/support/target.h"

using namespace actorflow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t limit = 1 << 20;
  fuzz::accepts([&] {
    const Tensor pixels = decode_png(fuzz::text(fuzz::input(data, size)), limit);
    fuzz::require(pixels.dtype() == DType::uint8 && pixels.shape().rank() == 3, "an image has pixels");
    fuzz::require(std::cmp_less_equal(pixels.size_bytes(), limit), "an image is within the limit");
  });
  return 0;
}

// PNG images. Everything here is thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataflow/values/tensor.h"

namespace actorflow {

// The pixels of a PNG image: uint8 [height, width, channels] with the channels that it has, 1 grey, 2
// grey and alpha, 3 RGB, 4 RGBA; a palette's colours as RGB, 16 bits as 8. Throws data_loss if the bytes
// are no such image, and resource_exhausted if the pixels would take more than `max_bytes`.
Tensor decode_png(std::string_view png, std::int64_t max_bytes = std::int64_t{1} << 28);

}  // namespace actorflow

// Tensors as images.
#pragma once

#include <cstdint>
#include <string>

#include "dataflow/values/tensor.h"
#include "schema/event.h"

namespace actorflow {

// Image `index` of [batch, height, width, channels], float32 or uint8, as Summaries::image() describes
// it. Throws invalid_argument, naming the tag, for another type or another number of channels.
ImageSummary image_summary(const std::string& tag, const Tensor& images, std::int64_t index);

}  // namespace actorflow

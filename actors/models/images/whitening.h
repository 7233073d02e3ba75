// Filters that make neighbouring pixels independent, computed from images.
#pragma once

#include <cstdint>

#include "dataflow/values/tensor.h"

namespace actorflow {

// The directions in which the patches of images vary, each divided by how far they do, and then the same
// with the opposite sign: float32 [window, window, channels, 2 window^2 channels], the filters of a
// first convolution (Jordan 2024, section 3.1). Of images [count, height, width, channels], float32 of 0
// to 1 or uint8 of 0 to 255; a pixel p of the former counts as 4 p - 2, whose mean and deviation are
// about 0 and 1. Takes at most `most_images`, the first ones. Throws invalid_argument for other images,
// and if the window is larger than an image.
Tensor whitening_filters(const Tensor& images, std::int64_t window = 2, std::int64_t most_images = 5000);

}  // namespace actorflow

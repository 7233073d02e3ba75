// The geometry of windows that slide over images [batch, height, width, channels], as TensorFlow defines
// it for convolution and pooling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/kernel.h"
#include "kernels/devices/host_device.h"
#include "kernels/ops.h"

namespace actorflow {

// One axis of the image. Window number `place` covers the input from place * stride - before on; places
// outside the input are padding.
struct SlidingAxis {
  std::int64_t input = 0, output = 0, window = 0, stride = 1;
  std::int64_t before = 0;  // elements of padding in front of the input

  // Elements of padding behind the input. The window comes last, for it may be of any size.
  std::int64_t after() const {
    return std::max<std::int64_t>(0, (output - 1) * stride - input - before + window);
  }
  // The first element of a window in the input; negative in the padding.
  ACTORFLOW_HOST_DEVICE std::int64_t begin(std::int64_t place) const { return place * stride - before; }
  // The elements [first, last) of the window that are in the input.
  ACTORFLOW_HOST_DEVICE std::int64_t first(std::int64_t place) const {
    const std::int64_t start = begin(place);
    return start < 0 ? -start : 0;
  }
  ACTORFLOW_HOST_DEVICE std::int64_t last(std::int64_t place) const {
    const std::int64_t rest = input - begin(place);
    return rest < window ? rest : window;
  }
  // The windows [first_place, last_place) that cover an element of the input.
  ACTORFLOW_HOST_DEVICE std::int64_t first_place(std::int64_t element) const {
    const std::int64_t reach = element + before - window;
    return reach < 0 ? 0 : reach / stride + 1;
  }
  ACTORFLOW_HOST_DEVICE std::int64_t last_place(std::int64_t element) const {
    const std::int64_t last = (element + before) / stride + 1;
    return last < output ? last : output;
  }
  // True if no element of the input lies in two windows.
  bool apart() const { return stride >= window; }
  bool in_no_window(std::int64_t element) const { return first_place(element) >= last_place(element); }

  bool operator==(const SlidingAxis&) const = default;
};

// The strides and padding with which windows slide, for any size of window and image.
struct Sliding {
  Extent strides{1};
  Padding padding = Padding::same;

  // The number of windows along an axis, with `same` ceil(input / stride); unknown if it depends on an
  // unknown size, 0 or less if the window does not fit.
  static std::int64_t places(std::int64_t input, std::int64_t window, std::int64_t stride,
                             Padding padding);
  static SlidingAxis axis(std::int64_t input, std::int64_t window, std::int64_t stride, Padding padding);

  // The axes of `images`. Throws through OpContext::fail if a window does not fit. REQUIRES: a shape of
  // rank 4.
  SlidingAxis rows(const OpContext& c, const Shape& images, std::int64_t window) const;
  SlidingAxis columns(const OpContext& c, const Shape& images, std::int64_t window) const;
};

// The attributes "strides" (1, rows, columns, 1) and "padding" ("SAME" or "VALID"), and their values.
std::vector<AttrDef> sliding_attrs();
Attrs sliding_values(Extent strides, Padding padding);
// The values of these attributes. REQUIRES: they have been checked.
Sliding sliding_of(const Node& node);
// Checks the attributes and returns their values; throws through InferContext::fail.
Sliding expect_sliding(const InferContext& c);
// The value of an attribute of the form (1, height, width, 1) with positive elements; throws through
// InferContext::fail.
Extent expect_extent(const InferContext& c, std::string_view attribute);
Extent extent_of(const std::vector<std::int64_t>& values);
std::vector<std::int64_t> extent_value(Extent extent);

// The shape of the result of sliding over input 0, with these channels. Throws through
// InferContext::fail if a window does not fit.
Shape infer_sliding(const InferContext& c, const Sliding& sliding, std::int64_t window_height,
                    std::int64_t window_width, std::int64_t channels);

}  // namespace actorflow

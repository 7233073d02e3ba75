// Images with their padding in memory, for libraries that pad both sides of an axis alike.
#pragma once

#include <cstdint>

#include "kernels/devices/host_device.h"
#include "kernels/images/conv.h"

namespace actorflow {

inline bool pads_alike(const ConvShape& s) {
  return s.rows.before == s.rows.after() && s.columns.before == s.columns.after();
}

// The shape of a convolution whose images have their padding already.
inline ConvShape padded(ConvShape s) {
  for (SlidingAxis* axis : {&s.rows, &s.columns}) {
    axis->input += axis->before + axis->after();
    axis->before = 0;
  }
  return s;
}

// Where packs of neighbouring channels of padded images are in the images themselves. Index counts packs
// and elements: 32 bits where they are enough.
template <class Index>
class PaddedPlaces {
 public:
  // REQUIRES: the channels are a multiple of `pack`.
  PaddedPlaces(const ConvShape& s, std::int64_t pack)
      : packs_(padded(s).images().elements() / pack),
        pack_(static_cast<Index>(pack)),
        packs_of_pixel_(static_cast<Index>(s.in / pack)),
        rows_(static_cast<Index>(s.rows.input + s.rows.before + s.rows.after())),
        columns_(static_cast<Index>(s.columns.input + s.columns.before + s.columns.after())),
        shape_(s) {}

  std::int64_t packs() const { return packs_; }

  // The element of the images with which the pack begins, or -1 in the padding.
  ACTORFLOW_HOST_DEVICE std::int64_t place_in_images(Index pack) const {
    const Index pixel = pack / packs_of_pixel_, line = pixel / columns_, image = line / rows_;
    const auto row = static_cast<std::int64_t>(line - image * rows_) - shape_.rows.before;
    const auto column = static_cast<std::int64_t>(pixel - line * columns_) - shape_.columns.before;
    if (row < 0 || row >= shape_.rows.input || column < 0 || column >= shape_.columns.input) return -1;
    const std::int64_t ours =
        (static_cast<std::int64_t>(image) * shape_.rows.input + row) * shape_.columns.input + column;
    return ours * shape_.in + static_cast<std::int64_t>((pack - pixel * packs_of_pixel_) * pack_);
  }

 private:
  std::int64_t packs_;
  Index pack_, packs_of_pixel_, rows_, columns_;
  ConvShape shape_;
};

}  // namespace actorflow

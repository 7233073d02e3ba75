// A small convolutional net that learns images such as CIFAR-10's in minutes on a CPU, in the manner of
// airbench (Jordan 2024, 94% on CIFAR-10 in 3.29 Seconds on a Single GPU), with fewer channels.
#pragma once

#include <array>
#include <cstdint>

#include "actors/layers/functional.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

struct FastNetOptions {
  Shape image = {32, 32, 3};  // [height, width, channels], float32 of 0 to 1
  std::int64_t classes = 10;
  std::array<std::int64_t, 3> channels = {48, 192, 192};  // of its three blocks
  double weight_decay = 1.33e-3;  // the loss grows by half of it times the squares of the filters
  // The views of an image of which a prediction is the mean, and by which its work grows: 1, the image;
  // 2, its mirror image, too; 6, also both moved by a pixel, up and left, or down and right, which count
  // half (as airbench's).
  std::int64_t views = 6;
};
// Throws invalid_argument for another number of views.
// `whitening` is of whitening_filters() (images/whitening.h) over the images of training. It is saved as
// an untrained variable; for a model whose weights are loaded afterwards its values do not matter:
// Tensor::zeros(DType::float32, {2, 2, channels of an image, 8 x channels of an image}).
Architecture fast_net(const Tensor& whitening, const FastNetOptions& options = {});

}  // namespace actorflow

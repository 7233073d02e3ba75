// How classifiers of images are trained, as their authors say.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/models/images/augmentation.h"
#include "actors/models/network/compile_options.h"

namespace actorflow {

// A point of a learning rate's course: after this share of the training, from 0 to 1, the rate is the
// recipe's times `factor`. Between points it is on the line between them; two at one place are a jump.
struct RatePoint {
  double after, factor;
};

struct ImageRecipe {
  double epochs = 1;
  std::int64_t batch_size = 32;
  double learning_rate = 0.01, momentum = 0.9;
  bool nesterov = false;
  std::vector<RatePoint> course = {{0, 1}, {1, 1}};
  double label_smoothing = 0;
  double weight_decay = 0;  // belongs to the architecture's options
  Precision precision = Precision::float32;  // of products
  ImageAugmentation augmentation{};

  // The steps of `epochs` passes over a training set of that many images. Batches are full: the last one
  // of a pass reaches into the next. Throws invalid_argument for a batch size below 1.
  std::int64_t steps(std::int64_t images) const;
};

// The recipe of fast_net() for CIFAR-10.
ImageRecipe fast_net_recipe();
// The recipe of resnet20() for CIFAR-10: He et al. 2016, section 4.2.
ImageRecipe resnet20_recipe();

// Loss, optimizer and schedule of a training of that many steps; metrics and seed are free.
// Throws invalid_argument unless the course's points ascend from 0 to 1.
CompileOptions compile_options(const ImageRecipe& recipe, std::int64_t steps);

// float64 scalar: the rate of a step, an int64 scalar, in a training of `steps`.
Output rate_of_course(double rate, const std::vector<RatePoint>& course, Output step,
                      std::int64_t steps);

}  // namespace actorflow

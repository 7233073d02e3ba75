// How a model is trained where nobody says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "actors/layers/losses.h"
#include "actors/models/images/augmentation.h"
#include "actors/models/network/compile_options.h"

namespace actorflow {

struct Recipe {
  double learning_rate = 0.001;  // the highest one
  std::int64_t batch_size = 64;
  double epochs = 5;
  std::optional<std::int64_t> steps{};  // in place of epochs
  Precision precision = Precision::float32;
  ImageAugmentation augmentation{};     // of training
  // Loss, optimizer, schedule and clipping of a training of that many steps.
  std::function<CompileOptions(double learning_rate, std::int64_t steps)> compile = [](double rate,
                                                                                       std::int64_t) {
    return CompileOptions{.loss = softmax_cross_entropy(), .optimizer = Adam{rate}};
  };
};

}  // namespace actorflow

// The models that programs train, by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/models/classifiers.h"

namespace actorflow {

struct ModelChoice {
  std::string name = "mlp";               // one of model_names()
  std::vector<std::int64_t> hidden{256};  // of a perceptron: sizes of the hidden layers

  bool operator==(const ModelChoice&) const = default;
};

const std::vector<std::string>& model_names();

// For images of shape [height, width, channels]. Throws invalid_argument that lists the known names.
Architecture architecture_of(const ModelChoice& choice, const Shape& image, std::int64_t classes);

// "mlp with hidden layers [256]", "lenet".
std::string describe(const ModelChoice& choice);

}  // namespace actorflow

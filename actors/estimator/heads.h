// Heads: the losses, metrics and predictions that are made from a model's last numbers. For this folder
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/estimator/model_spec.h"

namespace actorflow {

struct Head {
  std::int64_t logits = 1;  // the numbers that it takes
  std::function<ModelSpec(const SymbolicTensor& logits, const OptimizerChoice& optimizer)> of;
};

// One logit for two classes, as TensorFlow's; else one for each. Throws invalid_argument for fewer than
// two classes, and for a vocabulary of another number of classes or with a name twice.
Head classifier_head(std::int64_t n_classes, const std::vector<std::string>& label_vocabulary);
Head regression_head(std::int64_t label_dimension);

}  // namespace actorflow

// The models that programs train, by name, with the settings of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/models/classifiers.h"
#include "apps/training/data/labelled_data.h"
#include "apps/training/models/model_settings.h"
#include "apps/training/models/recipe.h"

namespace actorflow {

struct ModelChoice {
  std::string name = "mlp";  // one of model_names()
  ModelSettings settings{};  // those that are not the model's defaults

  bool operator==(const ModelChoice&) const = default;
};

const std::vector<std::string>& model_names();
// A line for each model: its name, what it is, and its settings with their defaults.
std::string describe_models();

// Throws invalid_argument, naming what there is, for a model or setting that is unknown, a value that
// makes no sense, and data that the model does not take. Models that begin with weights computed from
// data take them from `sample` (LabelledData), or without it leave them 0, for weights to be loaded.
Architecture architecture_of(const ModelChoice& choice, const LabelledTypes& data,
                             const Tensor& sample = {});
// The choice with all of the model's settings, the defaults too.
ModelChoice completed(ModelChoice choice);
// How many characters the model looks at, if it is one of texts.
std::int64_t block_of(const ModelChoice& choice);
// How the model is trained where nobody says otherwise.
Recipe recipe_of(const ModelChoice& choice);

// "mlp with hidden=256", "lenet".
std::string describe(const ModelChoice& choice);

}  // namespace actorflow

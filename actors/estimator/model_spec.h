// What an estimator trains, as its model function says it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "actors/estimator/features.h"
#include "actors/layers/functional.h"
#include "actors/models/model.h"

namespace actorflow {

struct ModelSpec {
  // What the losses and metrics are of: logits of a classifier.
  std::vector<SymbolicTensor> outputs;
  // Loss, optimizer, metrics. Its seed is RunConfig's.
  CompileOptions compile{};
  // What predict() returns and export_onnx() writes, by name; none: the outputs, as "predictions", or
  // "predictions_0" and so on if there are several.
  std::vector<std::pair<std::string, SymbolicTensor>> predictions{};
  // The label of an example as the loss wants it, from what the input has; none: as it is. Throws
  // invalid_argument for a label that cannot be.
  std::function<Tensor(const Tensor& label)> label{};
  // The names of the classes, if the labels are names: predict() adds them to "class_ids", as "classes".
  std::vector<std::string> class_names{};
};

// Makes the model of the features that it asks for. Called once by each train(), evaluate() and so on;
// always the same. Whether a model trains, its layers know (LayerScope::training()).
using ModelFn = std::function<ModelSpec(Features& features)>;

}  // namespace actorflow

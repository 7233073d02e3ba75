// A trained classifier for other runtimes.
#pragma once

#include <cstdint>
#include <string>

#include "actors/runtime/storage.h"
#include "apps/training/model_choice.h"

namespace actorflow {

struct ExportedClassifier {
  std::int64_t global_step = 0;
  ModelChoice model;
};

// Exports the newest checkpoint of `actorflow train` or `trainer` as ONNX into the folder `output`:
// images float32 from 0 to 1 -> logits, probabilities and class. `model` is one of model_names(); its
// sizes follow from the checkpoint. Images are [batch, features] of a perceptron, [batch, height, width,
// channels] of lenet (which is taken to be for square images, whose side is a multiple of 4), and
// [batch, 32, 32, channels] of resnet20. Throws not_found if there is no checkpoint, invalid_argument
// if it is of another model, and what export_onnx throws.
ExportedClassifier export_classifier(Storage& storage, const std::string& checkpoint_folder,
                                     const std::string& model, const std::string& output);

}  // namespace actorflow

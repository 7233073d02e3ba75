// A trained classifier for other runtimes.
#pragma once

#include <cstdint>
#include <string>

#include "actors/runtime/storage.h"
#include "apps/training/models/model_choice.h"

namespace actorflow {

struct ExportedClassifier {
  std::int64_t global_step = 0;
  ModelChoice model;
};

// Exports the newest checkpoint of `actorflow train` or `trainer` as ONNX into the folder `output`:
// "examples", as the model was trained on, to logits, probabilities and class. Throws not_found if there
// is no checkpoint, or no file beside it that says what it is of (model_file.h), and what export_onnx
// throws.
ExportedClassifier export_classifier(Storage& storage, const std::string& checkpoint_folder,
                                     const std::string& output);

}  // namespace actorflow

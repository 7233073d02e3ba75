// A trained perceptron for other runtimes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"

namespace actorflow {

struct ExportedMnist {
  std::int64_t global_step = 0;
  std::vector<std::int64_t> hidden;  // sizes of the hidden layers
};

// Exports the newest checkpoint of `actorflow train mnist` or `trainer` as ONNX into the folder
// `output`: images float32 [batch, pixels] from 0 to 1 -> logits, probabilities and class. The model's
// size follows from the checkpoint. Throws not_found if there is no checkpoint, invalid_argument if it
// is of another model, and what export_onnx throws.
ExportedMnist export_mnist(Storage& storage, const std::string& checkpoint_folder,
                           const std::string& output);

}  // namespace actorflow

// A trained model, made again from what its training has saved.
#pragma once

#include <cstdint>
#include <string>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/model.h"
#include "apps/training/models/model_file.h"

namespace actorflow {

// The newest checkpoint of `actorflow train` or `trainer`, and what it is of.
struct SavedModel {
  TrainedModel what;
  Checkpoint checkpoint;
};
// Throws not_found if there is none, or no file beside it that says what it is of (model_file.h).
SavedModel load_saved_model(Storage& storage, const std::string& checkpoint_folder);

struct LoadedModel {
  Model model;
  TrainedModel what;
  std::int64_t global_step = 0;
};

// With its weights. Throws what load_saved_model() throws, and data_loss if weights are missing.
LoadedModel load_trained_model(Storage& storage, const std::string& checkpoint_folder);

}  // namespace actorflow

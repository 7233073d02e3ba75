// A trained model, made again from what its training has saved.
#pragma once

#include <cstdint>
#include <string>

#include "actors/models/model.h"
#include "apps/training/models/model_file.h"

namespace actorflow {

struct LoadedModel {
  Model model;
  TrainedModel what;
  std::int64_t global_step = 0;
};

// With the weights of the newest checkpoint of `actorflow train` or `trainer`. Throws not_found if there
// is none, or no file beside it that says what it is of (model_file.h), and data_loss if it is damaged.
LoadedModel load_trained_model(Storage& storage, const std::string& checkpoint_folder);

}  // namespace actorflow

// What a trained model is, in a file beside its checkpoints, so that a program that knows neither its
// settings nor its data can make it again.
#pragma once

#include <string>

#include "actors/runtime/storage.h"
#include "apps/training/data/labelled_data.h"
#include "apps/training/models/model_choice.h"

namespace actorflow {

struct TrainedModel {
  ModelChoice choice;
  LabelledTypes data;

  bool operator==(const TrainedModel&) const = default;
};

// folder/model.json.
std::string model_file_in(const std::string& folder);

// Writes the file, and makes the folder. Throws what the storage throws.
void write_model_file(Storage& storage, const std::string& folder, const TrainedModel& model);
// Throws not_found if there is none, data_loss that names the part that is not as expected.
TrainedModel read_model_file(Storage& storage, const std::string& folder);

}  // namespace actorflow

// Training and testing by single batches, in this process.
#pragma once

#include "actors/models/model_engine.h"

namespace actorflow {

// Model::train_on_batch() and Model::test_on_batch().
Logs train_on_batch(ModelEngine& model, const TrainingData& batch);
Logs test_on_batch(ModelEngine& model, const TrainingData& batch);

}  // namespace actorflow

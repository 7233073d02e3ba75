// The choice of a strategy.
#pragma once

#include "actors/models/model.h"
#include "actors/models/model_engine.h"

namespace actorflow {

// Model::fit().
History run_fit(Model& model, ModelEngine& engine, const TrainingData& data, const FitOptions& options);

// Throws invalid_argument for no replicas.
void check_mirrored(const Mirrored& strategy);

}  // namespace actorflow

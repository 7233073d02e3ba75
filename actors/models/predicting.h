// Predictions of a model for examples. For this folder only.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/models/model_engine.h"

namespace actorflow {

// Model::predict(); during a fit() by a cluster, with the weights that it has by now.
std::vector<Tensor> predict_inputs(ModelEngine& model, const std::vector<Tensor>& inputs,
                                   std::int64_t batch_size);
std::vector<Tensor> predict_examples(ModelEngine& model, const Dataset& examples,
                                     const PredictOptions& options);

}  // namespace actorflow

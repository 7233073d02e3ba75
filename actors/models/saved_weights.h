// Checkpoints of a model's weights alone, without what training goes on from. For this folder only.
#pragma once

#include <string>

#include "actors/models/model_session.h"

namespace actorflow {

// Model::save_weights() and Model::load_weights().
void save_weights(ModelSession& model, const std::string& folder, const KeepOptions& keep);
void load_weights(ModelSession& model, const std::string& folder);

// Whether the newest checkpoint in the folder is one of weights alone. False if none can be read.
bool has_weights_alone(const ModelSession& model, const std::string& folder);

}  // namespace actorflow

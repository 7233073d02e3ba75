#pragma once

#include "actors/session.h"
#include "apps/training/mlp.h"
#include "apps/training/mnist.h"

namespace actorflow {

// The share of the images that the model, with its present variables, classifies rightly.
double accuracy_on(Session& session, const Mlp& model, const LabelledImages& images);

}  // namespace actorflow

#pragma once

#include "actors/client/session.h"
#include "actors/models/classifiers.h"
#include "apps/training/images.h"

namespace actorflow {

struct Score {
  double accuracy = 0;  // the share of images that are classified correctly
  double loss = 0;      // the mean of the model's loss
};

// The score of the model with its present variables.
Score score_on(Session& session, const Classifier& model, const LabelledImages& images);

}  // namespace actorflow

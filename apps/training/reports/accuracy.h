// How well a trained model tells the labels of test data.
#pragma once

#include "actors/client/session.h"
#include "actors/models/classifiers.h"
#include "apps/training/data/labelled_data.h"

namespace actorflow {

struct Score {
  double accuracy = 0;  // the share of labels that the model tells
  double loss = 0;      // the mean of the model's loss
};

// The score of the model with its present variables, on the batches of a dataset that ends. Throws
// invalid_argument if there are none.
Score score_on(Session& session, const Classifier& model, const Dataset& batches);

}  // namespace actorflow

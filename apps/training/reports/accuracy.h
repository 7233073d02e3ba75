// How well a trained model tells the labels of test data.
#pragma once

#include <functional>

#include "actors/client/session.h"
#include "actors/models/classifiers.h"
#include "apps/training/data/labelled_data.h"

namespace actorflow {

struct Score {
  double accuracy = 0;  // the share of labels that the model tells
  double loss = 0;      // the mean of the model's loss
};

// Called with a batch and the model's logits for it.
using SeesLogits = std::function<void(const Tuple& batch, const Tensor& logits)>;

// The score of the model with its present variables, on the batches of a dataset that ends. `sees` may
// be empty. Throws invalid_argument if there are no batches.
Score score_on(Session& session, const Classifier& model, const Dataset& batches,
               const SeesLogits& sees = {});

}  // namespace actorflow

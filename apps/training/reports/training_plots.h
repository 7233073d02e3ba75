// Pictures of a training run, for people.
#pragma once

#include <string>

#include "apps/training/data/labelled_data.h"
#include "apps/training/reports/accuracy.h"
#include "apps/training/reports/answers.h"
#include "apps/training/reports/learning_curve.h"

namespace actorflow {

// Adds what a model answers to each example of the batches to test on; of a text, to each character.
// REQUIRES: both outlive the function.
SeesLogits kept_in(Answers& answers, const LabelledData& data);

// Writes the curves of loss and accuracy, and the answers. Throws what writing throws.
void save_training_plots(const std::string& folder, const LearningCurve& curve, const LabelledData& data,
                         const Answers& answers);

}  // namespace actorflow

// Pictures of a training run, for people.
#pragma once

#include <string>

#include "actors/client/session.h"
#include "actors/models/classifiers.h"
#include "apps/training/data/labelled_data.h"
#include "apps/training/reports/answers.h"
#include "apps/training/reports/learning_curve.h"

namespace actorflow {

// What a model answers to each example to test on; of a text, to each character.
Answers answers_on(Session& session, const Classifier& model, const LabelledData& data);

// Writes the curves of loss and accuracy, and the answers. Throws what writing throws.
void save_training_plots(const std::string& folder, const LearningCurve& curve, const LabelledData& data,
                         const Answers& answers);

}  // namespace actorflow

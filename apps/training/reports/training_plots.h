// Pictures of a training run, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/models/classifiers.h"
#include "apps/plots/charts.h"
#include "apps/training/data/labelled_data.h"
#include "apps/training/reports/learning_curve.h"

namespace actorflow {

// What a model answers to each example to test on.
struct Answers {
  std::vector<std::int64_t> labels, predicted;
  std::vector<CaptionedImage> wrong;  // the first ones, of images
};
Answers answers_on(Session& session, const Classifier& model, const LabelledData& data);

// Writes the curves of loss and accuracy and, of data with a label for each example, the confusion
// matrix and images that were taken for something else. Throws what writing throws.
void save_training_plots(const std::string& folder, const LearningCurve& curve, const LabelledData& data,
                         const Answers& answers);

}  // namespace actorflow

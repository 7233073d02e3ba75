// What a model answers to the examples to test on, as pictures for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/plots/charts.h"
#include "apps/training/data/labelled_data.h"

namespace actorflow {

struct Answers {
  std::vector<std::int64_t> labels, predicted;
  std::vector<CaptionedImage> wrong{};  // the first ones, of images

  // Adds the classes that were predicted for a batch {examples, labels} of the data.
  void add(const LabelledData& data, const Tuple& batch, std::span<const std::int64_t> classes);
};

// Writes the confusion matrix and, of images, those that were taken for something else; nothing if there
// are no answers. Throws what writing throws.
void save_answers(const std::string& folder, const LabelledData& data, const Answers& answers);

}  // namespace actorflow

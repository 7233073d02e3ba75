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
  // The first ones: of images; of rows of a table, or of the last mistake in each block of a text.
  std::vector<CaptionedImage> wrong{};
  std::vector<CaptionedText> wrong_texts{};

  // Adds the classes that were predicted for the labels of a batch {examples, labels} of the data.
  void add(const LabelledData& data, const Tuple& batch, std::span<const std::int64_t> classes);
};

// Writes the confusion matrix and what was taken for something else; nothing if there are no answers.
// Throws what writing throws.
void save_answers(const std::string& folder, const LabelledData& data, const Answers& answers);

}  // namespace actorflow

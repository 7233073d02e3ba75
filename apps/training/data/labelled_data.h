// What programs train classifiers on: examples with labels, whatever they were read from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/input/dataset.h"
#include "actors/models/images/augmentation.h"
#include "dataflow/graph/op.h"
#include "dataflow/values/shape.h"

namespace actorflow {

// What a model must know of its data.
struct LabelledTypes {
  TensorType example;        // of one
  Shape label;               // of one, int64: {}, or as many as a text has characters
  std::int64_t classes = 0;  // labels are from 0 on and below this
  std::string alphabet;      // of a text: the character of each class

  bool operator==(const LabelledTypes&) const = default;
};

// What a batch of training is.
struct BatchesOfTraining {
  std::int64_t size = 64;
  std::uint64_t seed = 1;            // of the order, and of what is changed in images
  ImageAugmentation augmentation{};  // of images
};

// The examples of a training program, as batches {examples, labels}. Immutable; copies share the data.
// The functions are thread-safe.
struct LabelledData {
  std::string noun;  // "images"
  LabelledTypes types;
  std::vector<std::string> class_names{};  // for people; none: their numbers
  std::int64_t train_count = 0;            // examples of a pass over the data
  // Rows of training, from which a model may compute weights to begin with; none: of a text.
  Tensor sample{};
  // A hash of the first and the last example and their labels, for people; none: of a text.
  std::string ends{};
  // An endless sequence of batches for training, which depends on the data and these options only;
  // replicas share it by Dataset::shard. Throws invalid_argument to augment what are no images.
  std::function<Dataset(const BatchesOfTraining&)> training_batches{};
  // Each example to test on once, in batches.
  std::function<Dataset()> test_batches{};
  // All examples of a part at once, {examples, labels}; none: of a text.
  std::function<Tuple()> all_to_train_on{}, all_to_test_on{};
};

// Examples in memory: components {example, label}.
struct LabelledRows {
  std::string noun;
  LabelledTypes types;
  Tuple train, test;
  Dataset::Map convert;  // a batch of rows to what a model takes; none: they are that
};

// Training goes through the rows in an order that is drawn anew for each pass; its batches may reach
// into the next pass.
LabelledData labelled(LabelledRows rows);

}  // namespace actorflow

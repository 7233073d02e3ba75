// What an ensemble is.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "actors/input/dataset.h"
#include "actors/models/fit/callback.h"
#include "actors/models/network/compile_options.h"

namespace actorflow {

enum class EnsembleMethod : std::uint8_t {
  full_data,  // each member learns all examples, with a seed of its own
  bagging,    // each learns a sample drawn with replacement (Breiman 1996, Bagging Predictors)
  // A regression learns from what members say of examples that they have not learned (Wolpert 1992,
  // Stacked Generalization): a logistic one from probabilities, a linear one from numbers.
  stacking,
  // One training, whose learning rate goes in cycles along a cosine; a member at the end of each (Huang
  // et al. 2017, Snapshot Ensembles).
  snapshot,
};

enum class Vote : std::uint8_t {
  automatic,  // soft for cross-entropies, else mean
  soft,       // the class of the largest probability, in the weighted mean
  hard,       // the class that most members name; of several the smallest
  mean,       // the weighted mean of what members predict
};

struct EnsembleOptions {
  // At most one for each example, and 10,000. 0: one for each model that was given, 10 for a single one.
  int members = 0;
  EnsembleMethod method = EnsembleMethod::full_data;
  Vote vote = Vote::automatic;    // not `hard` with stacking, whose regression answers
  std::vector<double> weights{};  // of the members' votes; none: all the same
  std::uint64_t seed = 1;         // of bagging's samples; CompileOptions has the seed of the models
  // Bagging: how many examples are drawn for each member, as a share of all.
  double max_samples = 1;
  // Stacking. folds: how many parts the examples are divided into, each with about the same share of
  // each class or, where members predict numbers, each of neighbouring examples. passthrough: whether
  // the regression sees the inputs, too. regularization: the regression's C, the inverse of the strength
  // of its L2 penalty.
  int folds = 5;
  bool passthrough = false;
  double regularization = 1;
  // Makes the dataset that a member trains on in each pass, for example of augmented images
  // (augmented_images()). `examples` are those that the member learns: inputs, labels and, if there are
  // some, weights, in rows. The seed is that of the member's model. None: the examples themselves, in
  // another order in each pass.
  std::function<Dataset(const Tuple& examples, std::uint64_t seed)> training_data{};
  // Makes the callbacks of a member, such as early_stopping(), before it trains; with stacking for each
  // fold, too. Not for snapshots, which are one training.
  std::function<Callbacks(int member)> callbacks{};
  // Makes the schedule of a training of so many steps, in place of that of CompileOptions: a member of
  // bagging, or one that lacks a fold, may learn fewer examples than there are. Not for snapshots, whose
  // rate follows their cycles.
  std::function<LearningRateSchedule(std::int64_t steps)> learning_rate{};
  // The functions above are called on the task where a member trains, by several threads at once, and
  // again after the loss of a task: what they return may depend on their arguments only.
};

}  // namespace actorflow

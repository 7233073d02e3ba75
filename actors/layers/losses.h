// Losses: what training minimises.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// A loss, which may be a function of your own.
struct Loss {
  std::string name;
  // float32 [batch, ...]: what each prediction costs. A model takes the mean over all.
  std::function<Output(Output prediction, Output labels)> of;
};

// The losses of a model's outputs, one for each.
class Losses {
 public:
  Losses() = default;
  Losses(Loss loss) : losses_{std::move(loss)} {}  // NOLINT: a loss is a list of one
  Losses(std::initializer_list<Loss> losses) : losses_(losses) {}

  const std::vector<Loss>& list() const { return losses_; }

 private:
  std::vector<Loss> losses_;
};

// The losses below. Those of logits throw invalid_argument for what softmax() or sigmoid() has made, and
// those of classes for a last axis of one. Logits [batch, ..., classes] against class numbers [batch,
// ...], of any integer type up to int64 (Keras' SparseCategoricalCrossentropy(from_logits=True)). With a
// label smoothing of s the label has the weight 1 - s, and all classes share s equally.
Loss softmax_cross_entropy(double label_smoothing = 0);
// Logits against probabilities, both [batch, ..., classes].
Loss soft_label_cross_entropy();
// Logits [batch, ...] or [batch, 1] against labels 0 or 1 of any numeric dtype, [batch, ...].
Loss sigmoid_cross_entropy();

// The same of probabilities, such as a softmax or sigmoid at the end of a model gives (Keras' default,
// from_logits=False), which are kept within [1e-7, 1 - 1e-7]. The losses of logits above are more exact
// where a model is sure, and cost less. Rows of classes are divided by their sums first. Label smoothing
// moves each label by so much towards the mean of all classes, of two: towards 0.5.
Loss sparse_categorical_cross_entropy();
Loss categorical_cross_entropy(double label_smoothing = 0);
Loss binary_cross_entropy(double label_smoothing = 0);
// The sum over the last axis of label log(label / prediction), of probabilities, both within [1e-7, 1].
Loss kl_divergence();

// Numbers against numbers of the same shape, except that either may lack a last dimension of 1.
Loss mean_squared_error();
Loss mean_absolute_error();
// 100 |label - prediction| / max(|label|, 1e-7).
Loss mean_absolute_percentage_error();
// (log(1 + prediction) - log(1 + label))^2, of numbers of 1e-7 or more; smaller ones count as that.
Loss mean_squared_logarithmic_error();
// Huber 1964: quadratic up to `delta`, linear beyond.
Loss huber(double delta = 1);
// log(cosh(prediction - label)).
Loss log_cosh();
// max(0, 1 - label prediction), for labels -1 and 1, or 0 and 1, which count as -1 and 1.
Loss hinge();
Loss squared_hinge();
// max(0, 1 + the largest score of other classes - the score of the class), against one-hot rows.
Loss categorical_hinge();
// Minus the cosine of the angle between prediction and label, along the last axis; 0 where one is zeros.
Loss cosine_similarity();
// prediction - label log(prediction), for positive predictions.
Loss poisson();

}  // namespace actorflow

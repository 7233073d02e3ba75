// Examples for a model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "actors/input/dataset.h"

namespace actorflow {

// A dataset whose elements are examples, not batches: a tensor for each input of the model, then one for
// each output (its label), then, if the model is told so, a float32 scalar, the example's weight.
class TrainingData {
 public:
  // Elements of a dataset, in its order.
  TrainingData(Dataset elements) : elements_(std::move(elements)) {}  // NOLINT: a dataset is data
  // Tensors whose rows are examples. Throws invalid_argument if the numbers of rows differ.
  TrainingData(const Tensor& x, const Tensor& y);
  TrainingData(std::vector<Tensor> inputs, std::vector<Tensor> labels);
  // The same with the weights of the examples, float32 [examples]: see CompileOptions::sample_weights.
  TrainingData(const Tensor& x, const Tensor& y, const Tensor& sample_weights);

  const Dataset& elements() const { return elements_; }
  // The number of examples, if it is known.
  const std::optional<std::int64_t>& size() const { return size_; }

 private:
  Dataset elements_;
  std::optional<std::int64_t> size_;
};

// Whose examples a replica is given; the name and its values are those of tf.data.
enum class AutoShardPolicy : std::uint8_t {
  data,  // all are given the same, and each takes its part of every batch
  off,   // each is given its own
};

// Weights of classes by their numbers: FitOptions::class_weight.
using ClassWeight = std::map<std::int64_t, double>;

}  // namespace actorflow

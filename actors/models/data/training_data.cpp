#include "actors/models/data/training_data.h"

#include <utility>

#include "actors/input/rows.h"

namespace actorflow {
namespace {

Tuple joined(std::vector<Tensor> inputs, std::vector<Tensor> labels) {
  inputs.insert(inputs.end(), labels.begin(), labels.end());
  rows_of(inputs);
  return inputs;
}

}  // namespace

TrainingData::TrainingData(const Tensor& x, const Tensor& y)
    : TrainingData(std::vector<Tensor>{x}, std::vector<Tensor>{y}) {}

TrainingData::TrainingData(const Tensor& x, const Tensor& y, const Tensor& sample_weights)
    : TrainingData(std::vector<Tensor>{x}, std::vector<Tensor>{y, sample_weights}) {}

TrainingData::TrainingData(std::vector<Tensor> inputs, std::vector<Tensor> labels)
    : elements_(Dataset::tensors(joined(inputs, std::move(labels)))), size_(rows_of(inputs)) {}

}  // namespace actorflow

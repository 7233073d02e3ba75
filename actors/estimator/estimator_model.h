// A model function's model, and how examples are read for it. For this folder only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/estimator/input.h"
#include "actors/estimator/model_spec.h"
#include "actors/estimator/run_config.h"
#include "actors/models/model.h"

namespace actorflow {

// Thread-safe after construction, if the model's layers are called by one thread at a time.
class EstimatorModel {
 public:
  // Calls the model function. Throws what it throws, and invalid_argument if it returns no outputs.
  EstimatorModel(const ModelFn& model_fn, const RunConfig& config);

  // Examples as the model takes them: its inputs, with labels or without, once in the input's order.
  // Throws invalid_argument, as reading the dataset does, for an input that lacks a feature.
  Dataset labelled(const NamedExamples& input) const;
  Dataset unlabelled(const NamedExamples& input) const;
  // The examples of training: shuffled, num_epochs times, if the input wants that.
  Dataset for_training(const NamedExamples& input) const;

  // The model, compiled; it computes on the threads of the runtime, or on its own.
  Model trainable(std::shared_ptr<Runtime> runtime = nullptr) const;
  // The model's outputs and then its predictions, for models that only predict.
  Architecture predicting() const;
  std::size_t num_outputs() const { return spec_.outputs.size(); }
  const std::vector<std::string>& prediction_names() const { return prediction_names_; }
  const ModelSpec& spec() const { return spec_; }

 private:
  Dataset read(const NamedExamples& input, const Dataset& examples, bool with_labels) const;

  std::uint64_t seed_;
  Features features_;
  ModelSpec spec_;
  std::vector<SymbolicTensor> inputs_;
  std::vector<std::string> prediction_names_;
};

}  // namespace actorflow

#include "actors/estimator/estimator_model.h"

#include <fmt/format.h>

#include "actors/estimator/example_reader.h"
#include "dataflow/values/error.h"

namespace actorflow {

EstimatorModel::EstimatorModel(const ModelFn& model_fn, const RunConfig& config)
    : seed_(config.tf_random_seed), spec_(model_fn(features_)) {
  if (spec_.outputs.empty())
    throw invalid_argument("the model function returned no outputs; a model needs one or more");
  spec_.compile.seed = seed_;
  for (const ModelInput& input : features_.inputs()) inputs_.push_back(input.tensor);
  if (spec_.predictions.empty())
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i)
      spec_.predictions.emplace_back(
          spec_.outputs.size() == 1 ? "predictions" : fmt::format("predictions_{}", i),
          spec_.outputs[i]);
  for (const auto& [name, tensor] : spec_.predictions) prediction_names_.push_back(name);
}

Dataset EstimatorModel::read(const NamedExamples& input, const Dataset& examples,
                             bool with_labels) const {
  const auto reader = std::make_shared<const ExampleReader>(
      input, features_.inputs(), spec_.outputs.size(), with_labels, spec_.label);
  return examples.map([reader](const Tuple& example) { return (*reader)(example); });
}

Dataset EstimatorModel::labelled(const NamedExamples& input) const {
  return read(input, input.examples, true);
}

Dataset EstimatorModel::unlabelled(const NamedExamples& input) const {
  return read(input, input.examples, false);
}

Dataset EstimatorModel::for_training(const NamedExamples& input) const {
  Dataset examples = input.examples;
  if (input.shuffle) examples = examples.shuffle({.seed = seed_});
  if (input.num_epochs > 0) examples = examples.repeat(input.num_epochs);
  return read(input, examples, true);
}

Model EstimatorModel::trainable(std::shared_ptr<Runtime> runtime) const {
  Model model({inputs_, spec_.outputs}, std::move(runtime));
  model.compile(spec_.compile);
  return model;
}

// The outputs come first, so that layers have the same names as in training.
Architecture EstimatorModel::predicting() const {
  Architecture architecture{inputs_, spec_.outputs};
  for (const auto& [name, tensor] : spec_.predictions) architecture.outputs.push_back(tensor);
  return architecture;
}

}  // namespace actorflow

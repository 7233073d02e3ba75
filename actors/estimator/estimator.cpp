#include "actors/estimator/estimator.h"

#include <fmt/format.h>

#include "actors/checkpoint/checkpoint.h"
#include "actors/client/dataset_iterator.h"
#include "actors/estimator/estimator_model.h"
#include "actors/estimator/evaluation.h"
#include "actors/estimator/model_dir.h"
#include "actors/estimator/train/training.h"
#include "actors/export/onnx_export.h"
#include "actors/input/rows.h"
#include "actors/models/data/batches.h"
#include "actors/models/model_graph.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The model as it was trained, for predicting only.
Model load_model(const EstimatorModel& made, const RunConfig& config,
                 const std::vector<TensorType>& inputs) {
  Model model(made.predicting(), runtime_of(config));
  model.build(inputs);
  model.load(config.model_dir);
  return model;
}

void expect_trained(const RunConfig& config) {
  if (!latest_checkpoint(storage_of(config), config.model_dir))
    throw Error(Code::not_found, fmt::format("no trained model in {}", config.model_dir));
}

Tensor names_of(const Tensor& ids, const std::vector<std::string>& names) {
  std::vector<std::string> chosen;
  for (const std::int64_t id : ids.values<std::int64_t>())
    chosen.push_back(names.at(static_cast<std::size_t>(id)));
  return Tensor::of<std::string>(ids.shape(), chosen);
}

}  // namespace

Estimator::Estimator(ModelFn model_fn, RunConfig config)
    : model_fn_(std::move(model_fn)), config_(std::move(config)) {
  check_config(config_);
}

void Estimator::train(const InputFn& input_fn, const EstimatorTrainOptions& options) const {
  actorflow::train(*this, input_fn, options, {});
}

Logs Estimator::evaluate(const InputFn& input_fn, const EstimatorEvaluateOptions& options) const {
  expect_trained(config_);
  return Evaluation(*this, input_fn, options).run(Evaluation::Events::always);
}

Predictions Estimator::predict(const InputFn& input_fn) const {
  expect_trained(config_);
  const EstimatorModel made(model_fn_, config_);
  const NamedExamples input = input_fn();
  const Dataset examples = made.unlabelled(input);
  Model model = load_model(made, config_, types_of_example(examples, runtime_of(config_)));
  DatasetIterator batches(examples.batch(check_batch_size(input.batch_size)), runtime_of(config_));
  RowStacker rows(0);
  while (const auto batch = next_of(batches)) {
    const auto results = model.predict(*batch, rows_of(*batch));
    for (std::int64_t row = 0; row < rows_of(results); ++row) rows.add_row(results, row);
  }
  const Tuple all = rows.take();
  Predictions predictions;
  for (std::size_t i = 0; i < made.prediction_names().size(); ++i)
    predictions[made.prediction_names()[i]] = all[made.num_outputs() + i];
  if (!made.spec().class_names.empty() && predictions.contains("class_ids"))
    predictions["classes"] = names_of(predictions.at("class_ids"), made.spec().class_names);
  return predictions;
}

void Estimator::export_onnx(const std::string& folder, const InputFn& input_fn) const {
  expect_path("Estimator::export_onnx", folder);
  expect_trained(config_);
  const EstimatorModel made(model_fn_, config_);
  const auto types = types_of_example(made.unlabelled(input_fn()), runtime_of(config_));
  Model model = load_model(made, config_, types);
  Graph graph;
  const Architecture architecture = made.predicting();
  const ModelGraph nodes(graph, architecture, types, nullptr);
  Signature signature;
  for (const Output& input : nodes.inputs) signature.inputs[input.name()] = input;
  for (std::size_t i = 0; i < made.prediction_names().size(); ++i)
    signature.outputs[made.prediction_names()[i]] = nodes.predictions[made.num_outputs() + i];
  actorflow::export_onnx(storage_of(config_), folder, {{serving_default, signature}}, model.weights());
}

std::optional<std::int64_t> Estimator::latest_step() const {
  return actorflow::latest_step(storage_of(config_), config_.model_dir);
}

std::map<std::string, Tensor> Estimator::variables() const {
  expect_trained(config_);
  return load_newest_whole_checkpoint(storage_of(config_), config_.model_dir).value().tensors;
}

}  // namespace actorflow

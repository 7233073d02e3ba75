#include "actors/models/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "actors/export/onnx_export.h"
#include "actors/input/rows.h"
#include "actors/layers/network_builder.h"
#include "actors/models/data/batches.h"
#include "actors/models/fit/fit_loop.h"
#include "actors/models/fit/run_fit.h"
#include "actors/models/fit/single_batch.h"
#include "actors/models/model_engine.h"
#include "actors/models/predicting.h"
#include "actors/models/saved_weights.h"
#include "actors/runtime/expect_path.h"
#include "actors/runtime/runtime.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/values/error.h"

namespace actorflow {

Model::Model(std::vector<SymbolicTensor> inputs, std::vector<SymbolicTensor> outputs)
    : Model(Architecture{std::move(inputs), std::move(outputs)}) {}
Model::Model(Architecture architecture, std::shared_ptr<Runtime> runtime)
    : engine_(std::make_unique<ModelEngine>(std::move(architecture), std::move(runtime))) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

void Model::compile(CompileOptions options) {
  device_in_task(options.device);  // throws for what is none
  engine_->expect_no_fit("compile");
  engine_->rebuild_later();
  engine_->options = std::move(options);
}

const Architecture& Model::architecture() const {
  engine_->learn_inputs();
  return engine_->architecture;
}
const CompileOptions& Model::compile_options() const { return engine_->compiled(); }

History Model::fit(const TrainingData& data, const FitOptions& options) {
  return run_fit(*this, *engine_, data, options);
}

Logs Model::evaluate(const TrainingData& data, const EvaluateOptions& options) {
  engine_->expect_weights("evaluate");
  engine_->build_testing(types_of_example(data.elements(), engine_->threads()));
  return actorflow::evaluate(*engine_, data, options);
}

Logs Model::train_on_batch(const TrainingData& batch) {
  return actorflow::train_on_batch(*engine_, batch);
}
Logs Model::test_on_batch(const TrainingData& batch) {
  return actorflow::test_on_batch(*engine_, batch);
}

Tensor Model::predict(const Tensor& x, std::int64_t batch_size) {
  if (engine_->architecture.outputs.size() != 1)
    throw invalid_argument(fmt::format("the model has {} outputs; call predict() with a list of inputs",
                                       engine_->architecture.outputs.size()));
  return predict(std::vector<Tensor>{x}, batch_size)[0];
}

std::vector<Tensor> Model::predict(const std::vector<Tensor>& inputs, std::int64_t batch_size) {
  return predict_inputs(*engine_, inputs, batch_size);
}

std::vector<Tensor> Model::predict(const Dataset& examples, const PredictOptions& options) {
  return predict_examples(*engine_, examples, options);
}

Tensor Model::predict_on_batch(const Tensor& x) { return predict(x, rows_of(std::vector<Tensor>{x})); }
std::vector<Tensor> Model::predict_on_batch(const std::vector<Tensor>& inputs) {
  return predict_inputs(*engine_, inputs, rows_of(inputs));
}

void Model::build(const std::vector<TensorType>& inputs) {
  if (!engine_->of_cluster) engine_->build(inputs);
}

std::string Model::summary() {
  build();
  const ModelGraph& graph = engine_->session().nodes();
  std::string text = fmt::format("{:<28} {:<24} {:>12}\n", "layer", "result", "parameters");
  for (const LayerRecord& layer : graph.layers) {
    std::int64_t parameters = 0;
    for (const auto& entry : graph.variables.entries)
      if (entry.variable.name().starts_with(layer.name + "/"))
        parameters += entry.variable.type().shape.elements();
    const std::string kind = layer.name == layer.kind ? "" : fmt::format(" ({})", layer.kind);
    text += fmt::format("{:<28} {:<24} {:>12}{}\n", layer.name + kind, layer.result.to_string(),
                        parameters, layer.trainable ? "" : "  frozen");
  }
  std::int64_t trained = 0;
  for (const Variable& variable : graph.variables.trained()) trained += variable.type().shape.elements();
  text += fmt::format("{} parameters, of which {} are trained\n", count_parameters(), trained);
  return engine_->stages.empty() ? text : text + fmt::format("stages: {}\n", engine_->stages);
}

std::int64_t Model::count_parameters() {
  build();
  std::int64_t count = 0;
  for (const Variable& variable : engine_->session().nodes().variables.all())
    count += variable.type().shape.elements();
  return count;
}

std::map<std::string, Tensor> Model::weights() const { return engine_->weights(); }

void Model::set_weights(const std::map<std::string, Tensor>& weights) { engine_->set_weights(weights); }

std::vector<std::string> Model::copy_weights(const Model& other) {
  auto weights = engine_->weights();
  const auto theirs = other.weights();
  const auto their_layers = named_layers(other.engine_->architecture);
  std::vector<std::string> names;
  for (const NamedLayer& layer : named_layers(engine_->architecture)) {
    const auto same = std::ranges::find(their_layers, layer.layer, &NamedLayer::layer);
    if (same == their_layers.end()) continue;
    names.push_back(layer.name);
    for (const auto& [name, value] : theirs)
      if (name.starts_with(same->name + "/"))
        weights[layer.name + name.substr(same->name.size())] = value;
  }
  if (names.empty())
    throw invalid_argument(
        "copy_weights: the models share no layer; make one of the other's get_layer().output(), or give "
        "each layer its weights by ModelLayer::set_weights()");
  engine_->set_weights(weights);
  return names;
}

ModelLayer Model::get_layer(const std::string& name) { return {*engine_, name}; }

std::vector<std::string> Model::layer_names() const {
  std::vector<std::string> names;
  for (const NamedLayer& layer : named_layers(engine_->architecture)) names.push_back(layer.name);
  return names;
}

void Model::save(const std::string& folder, const KeepOptions& keep) {
  engine_->save(expect_path("Model::save", folder), keep);
}

void Model::load(const std::string& folder) { engine_->load(expect_path("Model::load", folder)); }

void Model::save_weights(const std::string& folder, const KeepOptions& keep) {
  expect_path("Model::save_weights", folder);
  engine_->expect_weights("save_weights");
  build();
  actorflow::save_weights(engine_->session(), folder, keep);
}

void Model::load_weights(const std::string& folder) {
  expect_path("Model::load_weights", folder);
  build();
  actorflow::load_weights(engine_->session(), folder);
  engine_->lacks_weights = false;
}

FitProgress Model::progress() const { return engine_->progress; }

void Model::export_onnx(const std::string& folder) {
  expect_path("Model::export_onnx", folder);
  engine_->expect_weights("export_onnx");
  build();
  const ModelGraph& graph = engine_->session().nodes();
  Signature signature;
  for (const Output& input : graph.inputs) signature.inputs[input.name()] = input;
  for (std::size_t i = 0; i < graph.predictions.size(); ++i)
    signature.outputs[i == 0 ? "y" : fmt::format("y_{}", i)] = graph.predictions[i];
  ModelSession& model = engine_->session();
  actorflow::export_onnx(model.storage(), folder, {{serving_default, signature}}, model.session());
}

std::int64_t Model::step() { return engine_->steps(); }

double Model::learning_rate() {
  build();
  const bool scheduled = static_cast<bool>(engine_->compiled().learning_rate);
  ModelSession& model = engine_->session();
  if (!scheduled) model.nodes().expect_one_rate();
  const Output rate = scheduled ? model.nodes().rate : Output(model.nodes().learning_rate);
  return model.session().run(rate).scalar<double>();
}

void Model::set_learning_rate(double rate) {
  if (engine_->compiled().learning_rate)
    throw Error(Code::failed_precondition,
                "the learning rate follows the schedule of compile(); leave that out to set it");
  auto& kept = engine_->kept_state;
  if (kept && !kept->learning_rate) build();  // the graph knows which rates differ, and throws
  if (engine_->local || engine_->of_cluster) return engine_->session().set_learning_rate(rate);
  (kept ? kept->learning_rate : engine_->wanted_rate) = rate;
}

Model sequential(const std::vector<Layer>& layers) { return Model(chain(layers)); }
Model sequential(const SymbolicTensor& input, const std::vector<Layer>& layers) {
  return Model(chain(layers, input));
}

}  // namespace actorflow

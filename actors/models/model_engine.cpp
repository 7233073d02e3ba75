#include "actors/models/model_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/runtime/runtime.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void check_type(std::string_view what, std::size_t number, const TensorType& expected,
                const TensorType& actual) {
  if (expected.dtype != actual.dtype || !expected.shape.compatible_with(actual.shape))
    throw invalid_argument(fmt::format("{} {}: the model takes {} for each example, got {}", what,
                                       number, expected.to_string(), actual.to_string()));
}

// The fetches of a pass: its loss, then the metrics.
std::vector<Output> fetches_of(const Measured& measured) {
  std::vector<Output> fetches{measured.loss};
  fetches.insert(fetches.end(), measured.metrics.begin(), measured.metrics.end());
  return fetches;
}

}  // namespace

ModelEngine::ModelEngine(Network made) : network(std::move(made)) {
  if (network.inputs.empty() || network.outputs.empty())
    throw invalid_argument(fmt::format("a model needs an input and an output, got {} and {}",
                                       network.inputs.size(), network.outputs.size()));
}

const CompileOptions& ModelEngine::compiled() const {
  if (!options)
    throw Error(Code::failed_precondition,
                "the model has not been compiled; call compile() with its loss");
  return *options;
}

ModelGraph& ModelEngine::built() const {
  if (!graph)
    throw Error(
        Code::failed_precondition,
        "the model has no weights yet: its inputs are unknown; give it an input() or call build()");
  return *graph;
}

std::vector<TensorType> ModelEngine::types_of_inputs(const std::vector<TensorType>& given) const {
  std::vector<TensorType> types = given;
  const auto& inputs = network.inputs;
  if (types.empty())
    for (const SymbolicTensor& input : inputs) types.push_back(input.def().type);
  if (types.size() != inputs.size())
    throw invalid_argument(fmt::format("the model has {} inputs, got {}", inputs.size(), types.size()));
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TensorType& declared = inputs[i].def().type;
    if (declared.dtype != DType::invalid) check_type("input", i, declared, types[i]);
    if (types[i].dtype == DType::invalid)
      throw Error(Code::failed_precondition,
                  "the model's inputs are unknown; give it an input(), or fit it to data first");
  }
  return types;
}

void ModelEngine::build(const std::vector<TensorType>& given) {
  if (graph && given.empty()) return;
  const auto types = types_of_inputs(given);
  if (graph) {
    for (std::size_t i = 0; i < types.size(); ++i)
      check_type("input", i, graph->input_types[i], types[i]);
    return;
  }
  auto made = std::make_unique<ModelGraph>(network, types, options ? options->seed : 1);
  server = std::make_unique<Server>(Server::local());
  graph = std::move(made);
  saver.emplace(graph->graph, graph->saved_variables(), graph->global_step);
  for (const Variable& variable : graph->variables.all()) add_assignment(variable);
  add_assignment(graph->progress);
  add_assignment(graph->saved_rate);
  session = std::make_unique<Session>(server->target(), graph->graph);
  session->initialize_variables();
  predict.emplace(session->make_callable(graph->predictions, graph->inputs));
  if (!kept_weights.empty()) assign(kept_weights);
  kept_weights.clear();
}

void ModelEngine::add_assignment(const Variable& variable) {
  const Output value = graph->graph.placeholder(variable.type().dtype, variable.type().shape);
  assign_values.push_back(value);
  assignments.push_back(graph->graph.assign(variable, value));
}

void ModelEngine::build_testing(const std::vector<TensorType>& example) {
  const auto& compile = compiled();
  const std::size_t inputs = network.inputs.size(), outputs = network.outputs.size();
  const std::size_t expected = inputs + outputs + (compile.sample_weights ? 1 : 0);
  if (example.size() != expected)
    throw invalid_argument(fmt::format(
        "an example of this model is {} tensors, {} input{} and {} label{}{}, but the data have {}: {}",
        expected, inputs, inputs == 1 ? "" : "s", outputs, outputs == 1 ? "" : "s",
        compile.sample_weights ? " and a weight" : "", example.size(), to_string(example)));
  const auto first_label = example.begin() + static_cast<std::ptrdiff_t>(inputs);
  const auto last_label = first_label + static_cast<std::ptrdiff_t>(outputs);
  build({example.begin(), first_label});
  const std::vector<TensorType> labels(first_label, last_label);
  if (graph->can_test()) {
    for (std::size_t i = 0; i < outputs; ++i) check_type("label", i, graph->label_types[i], labels[i]);
    return;
  }
  graph->add_testing(compile, labels);
  test.emplace(session->make_callable(fetches_of(graph->test), graph->batch_feeds()));
}

void ModelEngine::build_training(const std::vector<TensorType>& example) {
  build_testing(example);
  if (graph->can_train()) return;
  graph->add_training(*options);
  auto fetches = fetches_of(graph->train);
  fetches.push_back(graph->train_op.step);
  auto feeds = graph->batch_feeds();
  if (graph->rate_is_fed) feeds.push_back(graph->learning_rate);
  train.emplace(session->make_callable(fetches, feeds, graph->updates));
}

void ModelEngine::assign(const std::map<std::string, Tensor>& values) {
  const auto variables = built().variables.all();
  std::string differences;
  Feeds feeds;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto found = values.find(variables[i].name());
    if (found == values.end())
      differences += fmt::format("\n  '{}' is missing", variables[i].name());
    else if (found->second.dtype() != variables[i].type().dtype ||
             !variables[i].type().shape.compatible_with(found->second.shape()))
      differences += fmt::format("\n  '{}' is {}, got {}", variables[i].name(),
                                 variables[i].type().to_string(), found->second.describe());
    else
      feeds.emplace_back(assign_values[i], found->second);
  }
  for (const auto& [name, value] : values)
    if (std::ranges::find(variables, name, &Variable::name) == variables.end())
      differences += fmt::format("\n  the model has no '{}'", name);
  if (!differences.empty()) throw invalid_argument("these weights are not the model's:" + differences);
  const std::vector<Output> targets(assignments.begin(), assignments.end() - 2);
  session->run(std::vector<Output>{}, feeds, targets);
}

void ModelEngine::save(const std::string& folder) {
  const std::size_t last = assignments.size() - 1;
  session->run(
      std::vector<Output>{},
      {{assign_values[last - 1], Tensor::of<std::int64_t>({2}, {progress.epoch, progress.batches})},
       {assign_values[last], Tensor::scalar(learning_rate)}},
      {assignments[last - 1], assignments[last]});
  saver->save(*session, server->runtime()->storage(), folder);
}

bool ModelEngine::load(const std::string& folder) {
  if (!saver->restore(*session, server->runtime()->storage(), folder)) return false;
  const auto values = session->run(std::vector<Output>{graph->progress, graph->saved_rate});
  const auto saved = values[0].values<std::int64_t>();
  progress = {static_cast<int>(saved[0]), saved[1]};
  learning_rate = values[1].scalar<double>();
  return true;
}

void ModelEngine::rebuild_later() {
  if (!graph) return;
  const auto variables = graph->variables.all();
  const auto values = session->run({variables.begin(), variables.end()});
  for (std::size_t i = 0; i < values.size(); ++i) kept_weights[variables[i].name()] = values[i];
  train.reset();
  test.reset();
  predict.reset();
  assign_values.clear();
  assignments.clear();
  session.reset();
  saver.reset();
  graph.reset();
  server.reset();
}

}  // namespace actorflow

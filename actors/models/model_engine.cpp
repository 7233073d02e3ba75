#include "actors/models/model_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/layers/network_builder.h"
#include "actors/models/saved_weights.h"
#include "actors/runtime/runtime.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// What is probably wrong with an example that has an axis too much, or lacks one.
std::string_view advice_on_axes(const Shape& expected, const Shape& actual) {
  if (actual.rank() == expected.rank() + 1)
    return "; batches are made of examples: leave out Dataset::batch(), or an axis of the data";
  if (actual.rank() + 1 == expected.rank())
    return "; the rows of a tensor are examples: a single one needs a first axis of 1";
  return "";
}

void check_type(std::string_view what, std::size_t number, const TensorType& expected,
                const TensorType& actual) {
  if (expected.dtype != actual.dtype || !expected.shape.compatible_with(actual.shape))
    throw invalid_argument(fmt::format("{} {}: the model takes {} for each example, got {}{}", what,
                                       number, expected.to_string(), actual.to_string(),
                                       advice_on_axes(expected.shape, actual.shape)));
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

ModelEngine::ModelEngine(Architecture made, std::shared_ptr<Runtime> threads)
    : architecture(std::move(made)), runtime(std::move(threads)) {
  if (architecture.inputs.empty() || architecture.outputs.empty())
    throw invalid_argument(fmt::format("a model needs an input and an output, got {} and {}",
                                       architecture.inputs.size(), architecture.outputs.size()));
  check_frozen(architecture);
}

const CompileOptions& ModelEngine::compiled() const {
  if (!options)
    throw Error(Code::failed_precondition,
                "the model has not been compiled; call compile() with its loss");
  return *options;
}

ModelSession& ModelEngine::session() const {
  if (of_cluster) return *of_cluster;
  if (!local)
    throw Error(
        Code::failed_precondition,
        "the model has no weights yet: its inputs are unknown; give it an input(), fit it to data, or "
        "call build() with the type of one example, as in build({{DType::float32, {3}}})");
  return local->in_session;
}

std::vector<TensorType> ModelEngine::types_of_inputs(const std::vector<TensorType>& given) const {
  std::vector<TensorType> types = given.empty() ? learned_inputs : given;
  const auto& inputs = architecture.inputs;
  if (types.empty())
    for (const SymbolicTensor& input : inputs) types.push_back(input.def().type);
  if (types.size() != inputs.size())
    throw invalid_argument(
        fmt::format("the model has {}, got {}", counted(inputs.size(), "input"), types.size()));
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TensorType& declared = inputs[i].def().type;
    if (declared.dtype != DType::invalid) check_type("input", i, declared, types[i]);
    if (types[i].dtype == DType::invalid)
      throw Error(Code::failed_precondition,
                  "the model's inputs are unknown; give it an input(), fit it to data, or call build() "
                  "with the type of one example, as in build({{DType::float32, {3}}})");
  }
  return types;
}

void ModelEngine::learn_inputs() {
  const auto& types = local ? local->nodes.input_types : learned_inputs;
  const auto is_untyped = [](const SymbolicTensor& input) {
    return input.def().type.dtype == DType::invalid;
  };
  if (in_fit || types.empty() || !std::ranges::any_of(architecture.inputs, is_untyped)) return;
  architecture = with_input_types(architecture, types);
}

ModelEngine::ExampleTypes ModelEngine::divided(const std::vector<TensorType>& example) const {
  const std::size_t inputs = architecture.inputs.size(), outputs = architecture.outputs.size();
  const bool weighted = compiled().sample_weights;
  const std::size_t expected = inputs + outputs + (weighted ? 1 : 0);
  if (example.size() != expected)
    throw invalid_argument(
        fmt::format("an example of this model is {} and {}{}, but the data have {}: {}",
                    counted(inputs, "input"), counted(outputs, "label"), weighted ? " and a weight" : "",
                    counted(example.size(), "tensor"), to_string(example)));
  if (weighted) {
    const TensorType& weight = example.back();
    if (weight.dtype != DType::float32 || weight.shape.rank() != 0)
      throw invalid_argument(fmt::format(
          "CompileOptions::sample_weights: the weight of an example, its last tensor, is float32[], got "
          "{}; the weights of all examples together are float32[examples]",
          weight.to_string()));
  }
  const auto first_label = example.begin() + static_cast<std::ptrdiff_t>(inputs);
  return {{example.begin(), first_label},
          {first_label, first_label + static_cast<std::ptrdiff_t>(outputs)}};
}

ModelEngine::Local::Local(const Architecture& made, std::vector<TensorType> inputs,
                          const CompileOptions* options, std::optional<double> rate,
                          const std::shared_ptr<Runtime>& runtime)
    : architecture(made),
      nodes(graph, architecture, std::move(inputs), options, rate),
      server(runtime ? Server::local(runtime)
                     : Server::local(options ? options->extensions : Extensions{})),
      in_session(nodes, *server.runtime()),
      session(std::make_unique<Session>(server.target(), graph)) {
  session->initialize_variables();
  in_session.use(*session, true);
}

void ModelEngine::build(const std::vector<TensorType>& given) {
  if (local && given.empty()) return;
  const auto types = types_of_inputs(given);
  if (local) {
    for (std::size_t i = 0; i < types.size(); ++i)
      check_type("input", i, local->nodes.input_types[i], types[i]);
    return;
  }
  auto made =
      std::make_unique<Local>(architecture, types, options ? &*options : nullptr, wanted_rate, runtime);
  if (!kept_weights.empty()) made->in_session.set_weights(kept_weights);
  if (kept_state) made->in_session.set_state(*kept_state);
  made->in_session.set_global_step(std::exchange(kept_steps, 0));
  kept_weights.clear();
  kept_state.reset();
  local = std::move(made);
}

void ModelEngine::build_testing(const std::vector<TensorType>& example) {
  const auto types = divided(example);
  build(types.inputs);
  ModelGraph& nodes = local->nodes;
  if (!nodes.can_test()) return nodes.add_testing(compiled(), types.labels);
  for (std::size_t i = 0; i < types.labels.size(); ++i)
    check_type("label", i, nodes.label_types[i], types.labels[i]);
}

TrainingStep& ModelEngine::build_training(const std::vector<TensorType>& example, const StepForm& form) {
  build_testing(example);
  auto& steps = local->steps;
  if (const auto known = steps.find(form); known != steps.end()) return known->second;
  ModelGraph& nodes = local->nodes;
  std::optional<MicroBatchOptions> micro_batches;
  if (form.parts > 1) micro_batches = {.count = static_cast<int>(form.parts)};
  StepNodes step =
      nodes.add_training(compiled(), {}, {.micro_batches = micro_batches, .weighted = form.weighted});
  auto fetches = fetches_of(step.measured);
  fetches.push_back(step.op.step);
  const auto feeds = micro_batches ? ModelGraph::micro_batch_feeds(step) : nodes.train_feeds(step);
  Callable plan = local->session->make_callable(fetches, feeds, step.updates);
  return steps.try_emplace(form, std::move(step), std::move(plan)).first->second;
}

std::map<std::string, Tensor> ModelEngine::weights() {
  expect_weights("weights");
  if (!of_cluster && !local && !kept_weights.empty()) return kept_weights;
  if (!of_cluster) build({});
  return session().weights();
}

void ModelEngine::set_weights(const std::map<std::string, Tensor>& weights) {
  if (!of_cluster) build({});
  session().set_weights(weights);
  lacks_weights = false;
}

void ModelEngine::save(const std::string& folder, const KeepOptions& keep, const ExtraState& extra) {
  expect_weights("save");
  if (!of_cluster) build({});
  session().save(folder, progress, keep, extra);
}

void ModelEngine::load(const std::string& folder, ExtraState* extra) {
  if (!of_cluster) build({});
  if (has_weights_alone(session(), folder))
    throw Error(
        Code::failed_precondition,
        fmt::format("{} has the weights of a model alone, from which training cannot go on as it "
                    "was; load_weights() takes them",
                    folder));
  const auto loaded = session().load(folder, extra);
  if (!loaded) throw Error(Code::not_found, fmt::format("no trained model in {}", folder));
  progress = *loaded;
  lacks_weights = false;
}

void ModelEngine::adopt(const std::vector<TensorType>& inputs, std::map<std::string, Tensor> weights,
                        std::optional<TrainedState> state) {
  learned_inputs = inputs;
  if (!local) {
    kept_weights = std::move(weights);
    kept_state = std::move(state);
    return;
  }
  local->in_session.set_weights(weights);
  if (state) local->in_session.set_state(*state);
}

std::int64_t ModelEngine::steps() const {
  if (!local && !of_cluster) return kept_steps;
  return session().session().run(session().nodes().global_step).scalar<std::int64_t>();
}

void ModelEngine::set_steps(std::int64_t steps) {
  if (local)
    local->in_session.set_global_step(steps);
  else
    kept_steps = steps;
}

void ModelEngine::expect_weights(std::string_view what) const {
  if (lacks_weights)
    throw Error(
        Code::failed_precondition,
        fmt::format("{}: the last fit() has given this task no trained weights, which are the chief's "
                    "alone; call it where is_chief(strategy) is true, or after load() or set_weights()",
                    what));
}

void ModelEngine::expect_no_fit(std::string_view what) const {
  if (in_fit)
    throw Error(Code::failed_precondition,
                fmt::format("{}: fit() trains the model now; call it before or after", what));
}

std::optional<double> ModelEngine::own_rate() const {
  if (!options || options->learning_rate) return std::nullopt;
  if (!local) return kept_state ? kept_state->learning_rate : wanted_rate;
  const auto rate = local->in_session.session().run(local->nodes.learning_rate).scalar<double>();
  return rate == local->nodes.optimizer_rate ? std::nullopt : std::optional(rate);
}

void ModelEngine::rebuild_later() {
  if (local) {
    kept_weights = local->in_session.weights();
    learned_inputs = local->nodes.input_types;
  }
  local.reset();
  kept_state.reset();
  kept_steps = 0;
  wanted_rate.reset();
}

}  // namespace actorflow

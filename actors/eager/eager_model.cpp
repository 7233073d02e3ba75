#include "actors/eager/eager_model.h"

#include <fmt/format.h>

#include <utility>

#include "actors/layers/checks.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// One example for a batch of any size.
TensorType with_known_shape(TensorType type) {
  for (int axis = 0; axis < type.shape.rank(); ++axis)
    if (type.shape[axis] == Shape::unknown) type.shape.set(axis, 1);
  return type;
}

}  // namespace

EagerModel::EagerModel(const std::vector<Layer>& layers, std::uint64_t seed, std::string name)
    : EagerModel(chain(layers), seed, std::move(name)) {}

EagerModel::EagerModel(Architecture architecture, std::uint64_t seed, std::string name)
    : architecture_(std::move(architecture)),
      seed_(seed),
      prefix_(name.empty() ? std::string() : std::move(name) + "/") {}

EagerModel EagerModel::clone(std::string name) const {
  EagerModel other = *this;
  if (!name.empty()) other.prefix_ = std::move(name) + "/";
  for (Entry& entry : other.entries_)
    entry.variable = EagerVariable(other.prefix_ + entry.name, entry.variable.read());
  other.losses_.clear();
  return other;
}

// On a tape of its own: the caller's may be a graph that is traced, where no variable can be made.
void EagerModel::build(const std::vector<TensorType>& inputs, EagerContext& context) {
  if (built_) return;
  GradientTape tape(context);
  std::vector<Output> zeros;
  for (const TensorType& type : inputs) {
    const TensorType known = with_known_shape(type);
    zeros.push_back(tape.constant(Tensor::zeros(known.dtype, known.shape)));
  }
  ModelVariables made;
  ModelPass pass{.graph = tape.graph(), .variables = made, .seed = seed_};
  architecture_.build(pass, zeros);
  std::vector<Entry> entries;
  for (const auto& [name, variable, trained, regularizer] : made.entries)
    entries.push_back(
        {name, EagerVariable(prefix_ + name, tape.variable(name).read()), trained, regularizer});
  entries_ = std::move(entries);
  built_ = true;
}

Output EagerModel::operator()(Output x, const EagerCall& call) {
  return (*this)(std::vector<Output>{x}, call)[0];
}

std::vector<Output> EagerModel::operator()(const std::vector<Output>& inputs, const EagerCall& call) {
  if (inputs.empty() || inputs.size() != architecture_.inputs.size())
    throw invalid_argument(
        fmt::format("the model takes {} inputs, got {}", architecture_.inputs.size(), inputs.size()));
  std::vector<TensorType> types;
  for (const Output& input : inputs) types.push_back(input.type());
  Graph& graph = *inputs[0].graph;
  build(types, context_of(graph));
  ModelVariables variables = read_variables();
  ModelPass pass{.graph = graph, .variables = variables, .seed = seed_, .training = call.training};
  if (call.training) pass.step = step_of(graph, call);
  const auto outputs = architecture_.build(pass, inputs);
  losses_ = std::move(pass.losses);
  for (const auto& entry : variables.entries)
    if (entry.regularizer)
      losses_.push_back(built_as("regularizer of", entry.variable.name(),
                                 [&] { return entry.regularizer(entry.variable); }));
  return outputs;
}

Output EagerModel::step_of(Graph& graph, const EagerCall& call) {
  return call.step ? call.step : graph.constant(training_calls_++);
}

ModelVariables EagerModel::read_variables() const {
  ModelVariables read;
  for (const Entry& entry : entries_)
    read.entries.push_back({entry.name, entry.variable.in_graph(), entry.trained, entry.regularizer});
  return read;
}

std::vector<EagerVariable> EagerModel::variables() const {
  std::vector<EagerVariable> all;
  for (const Entry& entry : entries_) all.push_back(entry.variable);
  return all;
}

std::vector<EagerVariable> EagerModel::trained() const {
  std::vector<EagerVariable> trained;
  for (const Entry& entry : entries_)
    if (entry.trained) trained.push_back(entry.variable);
  return trained;
}

}  // namespace actorflow

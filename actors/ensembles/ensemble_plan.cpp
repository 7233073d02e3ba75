#include "actors/ensembles/ensemble_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "actors/checkpoint/checkpoint.h"
#include "actors/ensembles/plan_checks.h"
#include "actors/layers/checks.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// What all tasks must have alike.
std::uint64_t hash_of_data(const EnsemblePlan& plan) {
  std::map<std::string, Tensor> named;
  for (std::size_t i = 0; i < plan.examples.size(); ++i) named[std::to_string(i)] = plan.examples[i];
  for (std::size_t i = 0; i < plan.networks.size(); ++i)
    for (const auto& [name, tensor] : plan.networks[i].frozen_weights)
      named[fmt::format("member {}: {}", i, name)] = tensor;
  return hash_of(named);
}

bool is_in_layer(const std::string& variable, const std::set<std::string>& layers) {
  return std::ranges::any_of(
      layers, [&](const std::string& layer) { return variable.starts_with(layer + "/"); });
}

// What a model has learned elsewhere, and its copies do not learn.
std::map<std::string, Tensor> frozen_weights_of(const Model& model) {
  const std::set<std::string>& frozen = model.architecture().frozen;
  if (frozen.empty()) return {};
  try {
    auto weights = model.weights();
    std::erase_if(weights, [&](const auto& entry) { return !is_in_layer(entry.first, frozen); });
    return weights;
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("members of an ensemble take the weights of frozen layers ({}) from their "
                            "model: {}",
                            fmt::join(frozen, ", "), error.what()));
  }
}

MemberNetwork network_of(const Model& model) {
  return {model.architecture(), model.compile_options(), frozen_weights_of(model)};
}

std::int64_t draws_of(const EnsemblePlan& plan) {
  return std::max<std::int64_t>(
      1, std::llround(plan.options.max_samples * static_cast<double>(plan.rows())));
}

// Where a network says what it takes.
void check_inputs(const MemberNetwork& network, const std::vector<TensorType>& example) {
  const auto& inputs = network.architecture.inputs;
  for (std::size_t i = 0; i < std::min(inputs.size(), example.size()); ++i) {
    const TensorType& expected = inputs[i].def().type;
    if (expected.dtype == DType::invalid) continue;
    if (expected.dtype != example[i].dtype || !expected.shape.compatible_with(example[i].shape))
      throw invalid_argument(fmt::format("input {}: the model takes {} for each example, got {}", i,
                                         expected.to_string(), example[i].to_string()));
  }
}

// The network's output for a batch of examples of these types.
Output build(const MemberNetwork& network, const std::vector<TensorType>& example, Graph& graph,
             ModelVariables& variables) {
  check_inputs(network, example);
  ModelPass pass{.graph = graph, .variables = variables, .seed = network.options.seed};
  std::vector<Output> inputs;
  for (const TensorType& type : example) {
    const TensorType batch = batched(type);
    inputs.push_back(graph.placeholder(batch.dtype, batch.shape));
  }
  return network.architecture.build(pass, inputs)[0];
}

std::int64_t classes_of(const TensorType& output) {
  return output.shape.rank() < 2 ? 2 : std::max<std::int64_t>(2, output.shape[1]);
}

}  // namespace

std::vector<MemberNetwork> networks_of(const std::vector<std::reference_wrapper<const Model>>& models,
                                       EnsembleOptions& options) {
  if (options.members == 0) options.members = models.size() > 1 ? static_cast<int>(models.size()) : 10;
  check_options(options, models.size());
  std::vector<MemberNetwork> originals, networks;
  for (const Model& model : models) originals.push_back(network_of(model));
  for (int member = 0; member < options.members; ++member) {
    networks.push_back(originals[static_cast<std::size_t>(member) % models.size()]);
    networks.back().options.seed += static_cast<std::uint64_t>(member);
    check_network(networks.back(), networks[0], options);
  }
  return networks;
}

Vote vote_of(const std::vector<MemberNetwork>& networks, const EnsembleOptions& options) {
  if (options.vote != Vote::automatic) return options.vote;
  return networks[0].options.loss.list()[0].name.ends_with("cross_entropy") ? Vote::soft : Vote::mean;
}

TensorType output_of(const MemberNetwork& network, const std::vector<TensorType>& example) {
  Graph graph;
  ModelVariables variables;
  return build(network, example, graph, variables).type();
}

std::map<std::string, TensorType> weight_types_of(const MemberNetwork& network,
                                                  const std::vector<TensorType>& example) {
  Graph graph;
  ModelVariables variables;
  build(network, example, graph, variables);
  std::map<std::string, TensorType> types;
  for (const Variable& variable : variables.all()) types[variable.name()] = variable.type();
  return types;
}

std::vector<MemberWork> EnsemblePlan::work() const {
  if (options.method == EnsembleMethod::snapshot) return {MemberWork{}};
  std::vector<MemberWork> work;
  for (std::int64_t member = 0; member < options.members; ++member) {
    work.push_back({member});
    if (options.method != EnsembleMethod::stacking) continue;
    for (std::int64_t fold = 0; fold < options.folds; ++fold) work.push_back({member, fold});
  }
  return work;
}

RowNumbers EnsemblePlan::learned_rows(const MemberWork& work) const {
  // Neighbouring seeds give unrelated samples, since mt19937_64 mixes its seed.
  if (options.method == EnsembleMethod::bagging)
    return bootstrap_sample(rows(), draws_of(*this),
                            first_seed(options.seed) + static_cast<std::uint64_t>(work.member));
  return left_out(rows(), held_out_rows(work));
}

RowNumbers EnsemblePlan::held_out_rows(const MemberWork& work) const {
  if (options.method == EnsembleMethod::bagging) return left_out(rows(), learned_rows(work));
  RowNumbers held_out;
  for (std::int64_t row = 0; work.fold >= 0 && row < rows(); ++row)
    if (folds[static_cast<std::size_t>(row)] == work.fold) held_out.push_back(row);
  return held_out;
}

EnsemblePlan plan_ensemble(const std::vector<MemberNetwork>& networks, const EnsembleOptions& options,
                           Vote vote, const TrainingData& data, const FitOptions& fit) {
  check_fit_options(fit, options);
  EnsemblePlan plan{.networks = networks, .options = options, .vote = vote, .fit = fit};
  plan.fit.verbosity = Verbosity::silent;
  plan.examples = read_all(data.elements(), {.storage = &posix_storage()});
  check_examples(plan);
  const TensorType output = common_output(networks, row_types(plan.x()));
  if (vote != Vote::mean) {
    plan.classes = classes_of(output);
    plan.labels = class_numbers(plan.y());
    check_labels(plan.labels, plan.classes);
  } else {
    check_numbers(plan.y(), output);
  }
  if (options.method == EnsembleMethod::stacking) {
    check_folds(plan);
    if (vote == Vote::mean) check_regression(plan, output);
    plan.folds = vote == Vote::mean ? consecutive_folds(plan.rows(), options.folds)
                                    : stratified_folds(plan.labels, options.folds);
  }
  for (const MemberWork& work : plan.work()) {
    const auto learned = static_cast<std::int64_t>(plan.learned_rows(work).size());
    check_batch(plan.fit.batch_size, learned, static_cast<int>(work.member));
  }
  plan.data_hash = hash_of_data(plan);
  return plan;
}

}  // namespace actorflow

#include "actors/ensembles/plan_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

#include "actors/ensembles/ensemble_plan.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Each has a network of its own before the data are known, whose examples are the bound in most cases.
constexpr int most_members = 10'000;

void check_weights(const EnsembleOptions& options) {
  if (options.weights.empty()) return;
  if (options.method == EnsembleMethod::stacking)
    throw invalid_argument("weights: the regression of stacking learns its own; leave them out");
  if (options.weights.size() != static_cast<std::size_t>(options.members))
    throw invalid_argument(fmt::format("weights: expected one for each of {} members, got {}",
                                       options.members, options.weights.size()));
  double sum = 0;
  for (const double weight : options.weights) {
    if (!(weight >= 0) || !std::isfinite(weight))
      throw invalid_argument(fmt::format("weights: expected numbers of 0 or more, got {}", weight));
    sum += weight;
  }
  if (sum <= 0) throw invalid_argument("weights: one at least must be above 0");
}

TensorType output_of_member(const std::vector<MemberNetwork>& networks, std::size_t member,
                            const std::vector<TensorType>& example) {
  try {
    return output_of(networks[member], example);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("member {}: {}", member, error.what()));
  }
}

// The number of elements of one row.
std::int64_t columns_of(const Shape& rows) {
  std::int64_t columns = 1;
  for (int axis = 1; axis < rows.rank(); ++axis) columns *= rows[axis];
  return columns;
}

}  // namespace

void check_options(const EnsembleOptions& options, std::size_t models) {
  if (models == 0) throw invalid_argument("an ensemble: expected a model or more, got none");
  if (options.members < 2)
    throw invalid_argument(
        fmt::format("an ensemble: expected 2 members or more, got {}; one model alone "
                    "is trained by its own fit()",
                    options.members));
  if (options.members > most_members)
    throw invalid_argument(fmt::format("an ensemble: expected at most {} members, got {}; use fewer",
                                       most_members, options.members));
  if (static_cast<std::size_t>(options.members) < models)
    throw invalid_argument(
        fmt::format("an ensemble of {} members was given {} models", options.members, models));
  if (options.method == EnsembleMethod::snapshot && models > 1)
    throw invalid_argument(
        fmt::format("snapshots are of one model's training, but {} models were given", models));
  if (options.method == EnsembleMethod::snapshot && options.callbacks)
    throw invalid_argument(
        "snapshots are of one training that goes its whole way: leave out the callbacks");
  if (options.method == EnsembleMethod::snapshot && options.learning_rate)
    throw invalid_argument(
        "snapshots set the learning rate themselves: leave out EnsembleOptions::learning_rate");
  if (options.method == EnsembleMethod::stacking && options.vote == Vote::hard)
    throw invalid_argument("vote: the regression of stacking answers, not a hard vote; leave it out");
  check_weights(options);
  if (!(options.max_samples > 0 && options.max_samples <= 1))
    throw invalid_argument(
        fmt::format("max_samples: expected a share above 0, at most 1, got {}", options.max_samples));
  if (options.folds < 2)
    throw invalid_argument(fmt::format("folds: expected 2 or more, got {}", options.folds));
  if (!(options.regularization > 0) || !std::isfinite(options.regularization))
    throw invalid_argument(
        fmt::format("regularization: expected a finite C above 0, got {}", options.regularization));
}

void check_network(const MemberNetwork& network, const MemberNetwork& first,
                   const EnsembleOptions& options) {
  const auto& inputs = network.architecture.inputs;
  const auto& outputs = network.architecture.outputs;
  if (outputs.size() != 1)
    throw invalid_argument(fmt::format(
        "a member of an ensemble has one output, got {}; make a model of each", outputs.size()));
  if (inputs.size() != first.architecture.inputs.size())
    throw invalid_argument(fmt::format(
        "members of an ensemble learn the same examples, but their models' inputs are {} and {}",
        first.architecture.inputs.size(), inputs.size()));
  if (options.method == EnsembleMethod::snapshot && network.options.learning_rate)
    throw invalid_argument(
        "snapshots set the learning rate themselves: leave out CompileOptions::learning_rate");
}

void check_fit_options(const FitOptions& fit, const EnsembleOptions& options) {
  if (!std::holds_alternative<OneDevice>(fit.strategy))
    throw invalid_argument(
        "a member of an ensemble trains in one place: leave out the strategy; a job spreads members "
        "over "
        "its tasks");
  if (!fit.callbacks.empty())
    throw invalid_argument(
        "callbacks would be called by all members at once: EnsembleOptions::callbacks makes each "
        "member's own");
  if (options.method == EnsembleMethod::snapshot &&
      (fit.epochs < options.members || fit.epochs % options.members != 0))
    throw invalid_argument(fmt::format("snapshots: expected epochs for {} equal cycles, got {}",
                                       options.members, fit.epochs));
  if (options.method == EnsembleMethod::snapshot && fit.initial_epoch != 0)
    throw invalid_argument(
        fmt::format("snapshots are of all cycles, from the first one on, but initial_epoch is {}: leave "
                    "it out",
                    fit.initial_epoch));
}

void check_examples(const EnsemblePlan& plan) {
  if (plan.examples.empty()) throw invalid_argument("an ensemble: the data have no examples");
  const std::size_t expected = plan.inputs() + (plan.networks[0].options.sample_weights ? 2 : 1);
  if (plan.examples.size() != expected)
    throw invalid_argument(fmt::format("an example of this ensemble is {} tensors, but the data have {}",
                                       expected, plan.examples.size()));
  if (plan.options.members > plan.rows())
    throw invalid_argument(
        fmt::format("{} members cannot learn from {} examples: expected at most a member for each "
                    "example; use fewer members",
                    plan.options.members, plan.rows()));
}

void check_labels(const std::vector<std::int64_t>& labels, std::int64_t classes) {
  for (const std::int64_t label : labels)
    if (label < 0 || label >= classes)
      throw invalid_argument(fmt::format("expected labels from 0 to {}, got {}", classes - 1, label));
}

void check_numbers(const Tensor& expected, const TensorType& predicted) {
  const std::int64_t rows = expected.shape()[0];
  if (is_float32_or_64(expected.dtype()) && expected.elements() == rows * columns_of(predicted.shape))
    return;
  throw invalid_argument(fmt::format(
      "members of this ensemble predict {}, of which means are taken, but what they learn "
      "is {}: expected "
      "as many numbers of float32 or float64 for each example; for classes choose Vote::soft",
      predicted.to_string(), expected.describe()));
}

void check_folds(const EnsemblePlan& plan) {
  if (plan.rows() < plan.options.folds)
    throw invalid_argument(fmt::format("{} folds: there are only {} examples; use fewer folds",
                                       plan.options.folds, plan.rows()));
  std::map<std::int64_t, std::int64_t> counts;
  for (const std::int64_t label : plan.labels) ++counts[label];
  for (const auto& [label, count] : counts)
    if (count < plan.options.folds)
      throw invalid_argument(fmt::format("{} folds: class {} has only {} examples; use fewer folds",
                                         plan.options.folds, label, count));
}

void check_regression(const EnsemblePlan& plan, const TensorType& predicted) {
  constexpr std::int64_t most = 16'384;  // 2 GiB
  std::int64_t features = plan.options.members * columns_of(predicted.shape);
  if (plan.options.passthrough)
    for (const Tensor& input : plan.x()) features += columns_of(input.shape());
  if (std::min(features, plan.rows()) <= most) return;
  throw invalid_argument(fmt::format(
      "stacking: the regression has {} features of {} examples, and its matrix {} rows and columns: "
      "expected at most {} features, or examples; {}",
      features, plan.rows(), std::min(features, plan.rows()), most,
      plan.options.passthrough ? "leave out passthrough" : "use fewer members, or fewer examples"));
}

void check_batch(std::int64_t batch_size, std::int64_t learned, int member) {
  if (batch_size > learned)
    throw invalid_argument(
        fmt::format("a batch of {} is larger than all that member {} learns: {} examples", batch_size,
                    member, learned));
}

TensorType common_output(const std::vector<MemberNetwork>& networks,
                         const std::vector<TensorType>& example) {
  const TensorType first = output_of_member(networks, 0, example);
  for (std::size_t i = 1; i < networks.size(); ++i) {
    const TensorType other = output_of_member(networks, i, example);
    if (!(other == first))
      throw invalid_argument(
          fmt::format("members of an ensemble answer alike, but member 0 gives {}, and member {} {}",
                      first.to_string(), i, other.to_string()));
  }
  return first;
}

}  // namespace actorflow

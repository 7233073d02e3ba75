// The answers of members for examples that they have not learned.
#include <algorithm>

#include "actors/ensembles/ensemble_state.h"
#include "actors/ensembles/logistic_regression.h"
#include "actors/ensembles/ridge_regression.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The rows as a table [n, columns].
Tensor as_table(const Tensor& rows) {
  const std::int64_t count = rows.shape()[0];
  return rows.reshaped({count, rows.elements() / std::max<std::int64_t>(count, 1)});
}

// The output as the vote counts it: probabilities; 1 for the class that is named; or numbers.
Tensor counted(Vote vote, const Tensor& output) {
  if (vote == Vote::mean) return mean_of({{output}, {1}});
  Tensor probabilities = probabilities_of(output);
  if (vote == Vote::soft) return probabilities;
  const Tensor classes = largest(probabilities);
  std::ranges::fill(probabilities.mutable_values<double>(), 0.0);
  for (std::int64_t row = 0; row < classes.elements(); ++row)
    probabilities
        .mutable_values<double>()[row * probabilities.shape()[1] + classes.values<std::int64_t>()[row]] =
        1;
  return probabilities;
}

// The weighted sums of the answers for each example.
struct Sums {
  std::int64_t columns = 0;
  std::vector<double> values, weights;

  void add(std::int64_t row, std::span<const double> said, double weight) {
    for (std::size_t i = 0; i < said.size(); ++i)
      values[static_cast<std::size_t>(row * columns) + i] += weight * said[i];
    weights[static_cast<std::size_t>(row)] += weight;
  }
};

Sums sums_of(const EnsemblePlan& plan, const std::vector<MemberRecord>& records) {
  Sums sums;
  for (const MemberRecord& record : records) {
    if (record.predictions.empty()) continue;
    const Tensor said = counted(plan.vote, tensor_of(record.predictions[0]));
    sums.columns = said.elements() / said.shape()[0];
    sums.values.resize(static_cast<std::size_t>(plan.rows() * sums.columns));
    sums.weights.resize(static_cast<std::size_t>(plan.rows()));
    const auto& weights = plan.options.weights;
    const double weight = weights.empty() ? 1 : weights[static_cast<std::size_t>(record.work.member)];
    for (std::size_t i = 0; i < record.held_out.size(); ++i)
      sums.add(record.held_out[i],
               said.values<double>().subspan(i * static_cast<std::size_t>(sums.columns),
                                             static_cast<std::size_t>(sums.columns)),
               weight);
  }
  return sums;
}

// One member's answers for all examples, each from the training that has not seen the example.
Tensor out_of_fold(const EnsemblePlan& plan, const std::vector<MemberRecord>& records, int member) {
  Tensor all;
  for (const MemberRecord& record : records) {
    if (record.work.member != member || record.predictions.empty()) continue;
    const Tensor own = stacked_answers(plan.vote, tensor_of(record.predictions[0]));
    const std::int64_t columns = own.shape()[1];
    if (!all.valid()) all = Tensor::zeros(DType::float64, {plan.rows(), columns});
    const auto values = own.values<double>();
    for (std::size_t i = 0; i < record.held_out.size(); ++i)
      std::ranges::copy(
          values.subspan(i * static_cast<std::size_t>(columns), static_cast<std::size_t>(columns)),
          all.mutable_values<double>().begin() + record.held_out[i] * columns);
  }
  return all;
}

}  // namespace

std::optional<double> out_of_bag_score(const EnsemblePlan& plan,
                                       const std::vector<MemberRecord>& records) {
  const Sums sums = sums_of(plan, records);
  std::vector<double> means;
  RowNumbers rows;
  for (std::size_t row = 0; row < sums.weights.size(); ++row) {
    if (sums.weights[row] <= 0) continue;
    rows.push_back(static_cast<std::int64_t>(row));
    for (std::int64_t i = 0; i < sums.columns; ++i)
      means.push_back(
          sums.values[row * static_cast<std::size_t>(sums.columns) + static_cast<std::size_t>(i)] /
          sums.weights[row]);
  }
  if (rows.empty()) return std::nullopt;
  const Tensor answers =
      Tensor::of<double>({static_cast<std::int64_t>(rows.size()), sums.columns}, means);
  const Tensor expected = rows_at({plan.y()}, rows)[0];
  return plan.vote == Vote::mean ? mean_squared_error_of(answers, expected)
                                 : accuracy_of(largest(answers), class_numbers(expected));
}

Tensor stacked_answers(Vote vote, const Tensor& output) {
  return vote == Vote::mean ? as_table(mean_of({{output}, {1}})) : probabilities_of(output);
}

Tensor stacked_features(const EnsembleOptions& options, std::vector<Tensor> answers, const Tuple& x) {
  if (options.passthrough)
    for (const Tensor& input : x) answers.push_back(as_table(input));
  return side_by_side(answers);
}

LinearScores fit_stacking(const EnsemblePlan& plan, const std::vector<MemberRecord>& records) {
  std::vector<Tensor> answers;
  for (int member = 0; member < plan.options.members; ++member)
    answers.push_back(out_of_fold(plan, records, member));
  const Tensor features = stacked_features(plan.options, std::move(answers), plan.x());
  const double c = plan.options.regularization;
  if (plan.vote == Vote::mean)
    return fit_ridge_regression(features, stacked_answers(plan.vote, plan.y()), c);
  return fit_logistic_regression(features, plan.labels, plan.classes, c);
}

}  // namespace actorflow

// What an Ensemble holds. For this folder only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/ensembles/ensemble.h"
#include "actors/ensembles/ensemble_plan.h"
#include "actors/ensembles/linear_scores.h"
#include "actors/ensembles/votes.h"

namespace actorflow {

struct EnsembleState {
  EnsembleOptions options;
  std::vector<MemberNetwork> networks;
  Vote vote = Vote::soft;

  // Once it is trained, or loaded.
  std::map<int, std::map<std::string, Tensor>> weights{};  // of the members that are there
  std::vector<History> histories{};
  std::optional<double> oob_score{};
  std::optional<LinearScores> regression{};  // of stacking
  Tuple example{};                           // zeros of the types of one example's inputs

  bool has_numbers() const { return vote == Vote::mean; }
  bool is_stacking() const { return options.method == EnsembleMethod::stacking; }
  double weight_of(int member) const {
    return options.weights.empty() ? 1 : options.weights[static_cast<std::size_t>(member)];
  }
  std::vector<int> members() const;
  std::size_t inputs() const { return networks[0].architecture.inputs.size(); }
  // Throws failed_precondition if there are none.
  void expect_trained() const;
};

// What the regression of a stacking ensemble sees of what a member predicts: float64 [n, columns].
Tensor stacked_answers(Vote vote, const Tensor& output);
// The answers of all members side by side and, if the regression is to see them, the inputs.
Tensor stacked_features(const EnsembleOptions& options, std::vector<Tensor> answers, const Tuple& x);
// By what the members of bagging say of examples that they have not learned; none if all have learned
// all.
std::optional<double> out_of_bag_score(const EnsemblePlan& plan,
                                       const std::vector<MemberRecord>& records);
LinearScores fit_stacking(const EnsemblePlan& plan, const std::vector<MemberRecord>& records);

}  // namespace actorflow

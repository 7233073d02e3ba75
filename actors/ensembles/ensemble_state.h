// What an Ensemble holds. For this folder only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/ensembles/ensemble.h"
#include "actors/ensembles/ensemble_plan.h"
#include "actors/ensembles/logistic_regression.h"
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
  std::optional<LogisticRegression> regression{};  // of stacking
  Tensor example{};                                // zeros of the type of one example

  bool is_stacking() const { return options.method == EnsembleMethod::stacking; }
  double weight_of(int member) const {
    return options.weights.empty() ? 1 : options.weights[static_cast<std::size_t>(member)];
  }
  std::vector<int> members() const;
  // Throws failed_precondition if there are none.
  void expect_trained() const;
};

// What the regression of a stacking ensemble sees: the members' probabilities side by side and, if it is
// to, the inputs.
Tensor stacked_features(const EnsembleOptions& options, std::vector<Tensor> probabilities,
                        const Tensor& x);
// By what the members of bagging say of examples that they have not learned; none if all have learned
// all.
std::optional<double> out_of_bag_score(const EnsemblePlan& plan,
                                       const std::vector<MemberRecord>& records);
LogisticRegression fit_stacking(const EnsemblePlan& plan, const std::vector<MemberRecord>& records);

}  // namespace actorflow

// What an ensemble is to learn, checked before any member begins.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/ensembles/ensemble_options.h"
#include "actors/ensembles/member_log.h"
#include "actors/ensembles/member_record.h"
#include "actors/ensembles/samples.h"
#include "actors/models/model.h"

namespace actorflow {

// What a member computes, and how it learns.
struct MemberNetwork {
  Architecture architecture;
  CompileOptions options;
  std::map<std::string, Tensor> frozen_weights{};  // with which each training begins
};

// The networks of the members by number, each with the seed of its own. Throws invalid_argument for
// options that no data could make right, and failed_precondition for a model that was not compiled, or
// has frozen layers without weights.
std::vector<MemberNetwork> networks_of(const std::vector<std::reference_wrapper<const Model>>& models,
                                       EnsembleOptions& options);
// The vote of the options or, where they leave it open, the one that fits the loss of the first network.
Vote vote_of(const std::vector<MemberNetwork>& networks, const EnsembleOptions& options);

struct EnsemblePlan {
  std::vector<MemberNetwork> networks;
  EnsembleOptions options;
  Vote vote = Vote::soft;
  FitOptions fit;
  Tuple examples{};                    // inputs, a label and, if there are some, weights
  std::vector<std::int64_t> labels{};  // numbers of classes; none for means
  std::int64_t classes = 0;
  std::vector<int> folds{};  // stacking: of each example
  std::uint64_t data_hash = 0;  // of the examples, and of the weights of frozen layers
  std::shared_ptr<const std::atomic<bool>> stopped{};  // of the job: members end early then
  std::shared_ptr<MemberLog> log{};                    // none: nothing is said while they train

  std::int64_t rows() const { return examples[0].shape()[0]; }
  std::size_t inputs() const { return networks[0].architecture.inputs.size(); }
  Tuple x() const { return inputs_of(examples, inputs()); }
  const Tensor& y() const { return examples[inputs()]; }
  std::vector<MemberWork> work() const;
  // The rows that a piece of work learns; and those that it does not learn and predicts afterwards.
  RowNumbers learned_rows(const MemberWork& work) const;
  RowNumbers held_out_rows(const MemberWork& work) const;
};

// Throws invalid_argument for data that the members cannot learn, or not all of them: other types,
// labels that are no classes, too few examples, a batch that is larger than what a member learns.
EnsemblePlan plan_ensemble(const std::vector<MemberNetwork>& networks, const EnsembleOptions& options,
                           Vote vote, const TrainingData& data, const FitOptions& fit);

// The type of a batch of examples of these types, one for each input, after a network. Throws
// invalid_argument if the network does not take it.
TensorType output_of(const MemberNetwork& network, const std::vector<TensorType>& example);
// The types of its weights by name. Throws as output_of().
std::map<std::string, TensorType> weight_types_of(const MemberNetwork& network,
                                                  const std::vector<TensorType>& example);

}  // namespace actorflow

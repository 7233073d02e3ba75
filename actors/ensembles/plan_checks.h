// Checks before an ensemble trains. Each throws invalid_argument that says what was expected, what came,
// and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/ensembles/ensemble_options.h"
#include "actors/models/model.h"

namespace actorflow {

struct EnsemblePlan;
struct MemberNetwork;

void check_options(const EnsembleOptions& options, std::size_t models);
// Checks that a network fits the first one.
void check_network(const MemberNetwork& network, const MemberNetwork& first,
                   const EnsembleOptions& options);
void check_fit_options(const FitOptions& fit, const EnsembleOptions& options);
void check_examples(const EnsemblePlan& plan);
// For ensembles that take means: checks that the members can learn these numbers, given what they
// predict for a batch.
void check_numbers(const Tensor& expected, const TensorType& predicted);
void check_labels(const std::vector<std::int64_t>& labels, std::int64_t classes);
void check_folds(const EnsemblePlan& plan);
// For stacking of numbers: checks that the regression's square matrix, with as many rows as there are
// features or examples, fits into memory. `predicted` is the output of one member.
void check_regression(const EnsemblePlan& plan, const TensorType& predicted);
void check_batch(std::int64_t batch_size, std::int64_t learned, int member);
// The type of output that all networks have. Throws if two differ, and names them.
TensorType common_output(const std::vector<MemberNetwork>& networks,
                         const std::vector<TensorType>& example);

}  // namespace actorflow

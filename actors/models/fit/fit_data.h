// The examples of a fit(): for training, and for validation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/models/data/batches.h"
#include "actors/models/model.h"

namespace actorflow {

// Throws invalid_argument for options that make no sense.
void check_options(const FitOptions& options, const TrainingData& data);

// Throws invalid_argument unless the batch can be divided among that many replicas, and the part of each
// into that many micro-batches.
void expect_divisible(std::int64_t batch_size, std::int64_t replicas, std::int64_t micro_batches);

// The batches of training, as the options want them.
BatchesOptions batches_of(const FitOptions& options, std::uint64_t seed);

// The steps of an epoch in this process; reads a dataset to its end where steps_per_epoch does not say
// it. Throws as check_options().
std::int64_t steps_of_epoch(const Server& server, const TrainingData& data, const FitOptions& options);

// FitContext::measured().
std::vector<std::string> names_measured(const FitOptions& options, const std::vector<Metric>& metrics);

// The examples of a fit(), divided by the options.
struct FitData {
  FitBatches training;
  std::optional<FitBatches> validation;
  ValidationFreq validation_freq;

  // `shape` gives the batches of training; their part of the examples follows from the options.
  FitData(const Server& server, const TrainingData& data, const FitOptions& options,
          BatchesOptions shape);
};

}  // namespace actorflow

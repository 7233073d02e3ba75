#include "actors/models/fit/fit_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "actors/models/data/class_weight.h"
#include "actors/models/logs/totals.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Rounded down, as Keras does.
std::int64_t examples_for_training(const TrainingData& data, const FitOptions& options) {
  if (options.validation_split == 0) return -1;
  const auto kept = static_cast<std::int64_t>(
      std::floor(static_cast<double>(*data.size()) * (1 - options.validation_split)));
  if (kept == 0 || kept == *data.size())
    throw invalid_argument(
        fmt::format("fit: a validation_split of {} of {} examples leaves none on one side",
                    options.validation_split, *data.size()));
  return kept;
}

void check_validation(const FitOptions& options, const TrainingData& data) {
  const double split = options.validation_split;
  if (!(split >= 0 && split < 1))
    throw invalid_argument(
        fmt::format("fit: expected a validation_split from 0 on and below 1, got {}", split));
  if (split > 0 && options.validation_data)
    throw invalid_argument("fit: give validation_data or a validation_split, not both");
  if (split > 0 && !data.size())
    throw invalid_argument(
        "fit: a validation_split needs tensors, whose number of examples is known; give "
        "validation_data");
  const std::int64_t steps = options.validation_steps, batch = options.validation_batch_size;
  if (steps < 0 || batch < 0)
    throw invalid_argument(fmt::format(
        "fit: validation_steps and validation_batch_size are 0 or more, got {} and {}", steps, batch));
  if (split == 0 && !options.validation_data && (steps > 0 || batch > 0))
    throw invalid_argument(
        "fit: validation_steps and validation_batch_size are of validation_data or a validation_split; "
        "give one of these, too");
}

}  // namespace

void check_options(const FitOptions& options, const TrainingData& data) {
  if (options.epochs < 0 || options.initial_epoch < 0 || options.steps_per_epoch < 0)
    throw invalid_argument(
        fmt::format("fit: epochs, initial_epoch and steps_per_epoch are 0 or more, got {}, {} and {}",
                    options.epochs, options.initial_epoch, options.steps_per_epoch));
  if (options.gradient_accumulation_steps < 1)
    throw invalid_argument(fmt::format("fit: expected 1 or more gradient_accumulation_steps, got {}",
                                       options.gradient_accumulation_steps));
  for (std::size_t i = 0; i < options.callbacks.size(); ++i)
    if (!options.callbacks[i])
      throw invalid_argument(fmt::format("fit: of {} callbacks number {} is empty; leave it out",
                                         options.callbacks.size(), i + 1));
  check_validation(options, data);
}

void expect_divisible(std::int64_t batch_size, std::int64_t replicas, std::int64_t micro_batches) {
  check_batch_size(batch_size);
  if (batch_size % replicas != 0)
    throw invalid_argument(fmt::format(
        "a batch of {} examples cannot be divided among {} replicas; choose a multiple of {}",
        batch_size, replicas, replicas));
  if (batch_size / replicas % micro_batches != 0)
    throw invalid_argument(
        fmt::format("a batch of {} examples{} cannot be divided into {} micro-batches; choose a batch "
                    "size that is a multiple of {}",
                    batch_size, replicas == 1 ? "" : fmt::format(", among {} replicas,", replicas),
                    micro_batches, replicas * micro_batches));
}

BatchesOptions batches_of(const FitOptions& options, std::uint64_t seed) {
  return {.batch_size = options.batch_size,
          .shuffle = options.shuffle,
          .seed = seed,
          .steps_per_epoch = options.steps_per_epoch,
          .may_be_few = options.may_be_short_of_a_batch,
          .change = weighting(options.class_weight)};
}

std::vector<std::string> names_measured(const FitOptions& options, const std::vector<Metric>& metrics) {
  std::vector<std::string> names = log_names(metrics);
  const auto trained = names.size();
  if (options.validation_data || options.validation_split > 0)
    for (std::size_t i = 0; i < trained; ++i) names.push_back("val_" + names[i]);
  return names;
}

FitData::FitData(const Server& server, const TrainingData& data, const FitOptions& options,
                 BatchesOptions shape)
    : training(server, data,
               [&] {
                 shape.count = examples_for_training(data, options);
                 return shape;
               }()),
      validation_freq(options.validation_freq) {
  const TrainingData& tested = options.validation_data ? *options.validation_data : data;
  BatchesOptions tests{.first_steps = options.validation_steps, .may_be_few = true};
  if (options.validation_split > 0)
    tests.first = shape.count;
  else if (!options.validation_data)
    return;
  const std::int64_t wanted =
      options.validation_batch_size > 0 ? options.validation_batch_size : options.batch_size;
  tests.batch_size = tested.size() ? std::min(wanted, *tested.size() - tests.first) : wanted;
  validation.emplace(server, tested, tests);
}

std::int64_t steps_of_epoch(const Server& server, const TrainingData& data, const FitOptions& options) {
  check_options(options, data);
  constexpr std::uint64_t any_seed = 1;  // it says the order alone
  return FitData(server, data, options, batches_of(options, any_seed)).training.count_steps();
}

}  // namespace actorflow

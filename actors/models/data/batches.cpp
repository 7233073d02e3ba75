#include "actors/models/data/batches.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

#include "actors/input/rows.h"
#include "actors/input/stages.h"
#include "actors/runtime/runtime.h"
#include "actors/task/server.h"
#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Dataset later_passes(const Dataset& elements, std::int64_t first) {
  return elements.then([first](StageRef input, const InputContext&) -> StageRef {
    return later_passes_stage(std::move(input), first);
  });
}

// As many as there can be where that would be more.
std::int64_t examples_in(std::int64_t steps, std::int64_t batch_size) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return steps > most / batch_size ? most : steps * batch_size;
}

void expect_a_batch(std::int64_t examples, std::int64_t batch_size) {
  if (batch_size > examples)
    throw invalid_argument(
        fmt::format("a batch of {} examples is larger than the data, which have {}; choose a batch size "
                    "of at most that",
                    batch_size, examples));
}

// Neighbouring seeds, such as those of an ensemble's members, share no epoch's order: multiples of 2^64
// divided by the golden ratio keep apart (Knuth, volume 3, section 6.4).
std::uint64_t seed_of_epoch(std::uint64_t seed, int epoch) {
  return seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(epoch);
}

}  // namespace

std::optional<Tuple> next_of(DatasetIterator& iterator) {
  try {
    return iterator.next();
  } catch (const Error& error) {
    if (error.code() == Code::out_of_range) return std::nullopt;
    throw;
  }
}

Tuple first_example(const Dataset& elements, std::shared_ptr<Runtime> runtime) {
  DatasetIterator iterator(elements.take(1), std::move(runtime));
  auto first = next_of(iterator);
  if (!first) throw invalid_argument("the data have no examples");
  return std::move(*first);
}

std::vector<TensorType> types_of_example(const Dataset& elements, std::shared_ptr<Runtime> runtime) {
  return types_of(first_example(elements, std::move(runtime)));
}

std::int64_t check_batch_size(std::int64_t batch_size) {
  if (batch_size < 1)
    throw invalid_argument(fmt::format("expected a batch size of 1 or more, got {}", batch_size));
  return batch_size;
}

std::int64_t check_steps(std::string_view caller, std::int64_t steps) {
  if (steps < 0)
    throw invalid_argument(
        fmt::format("{}: expected 0 steps, for all batches, or more, got {}", caller, steps));
  return steps;
}

Dataset first_batches(const Dataset& examples, std::int64_t batch_size, std::int64_t steps) {
  return steps == 0 ? examples : examples.take(examples_in(steps, batch_size));
}

Tuple rows_of_shard(const Tuple& batch, std::int64_t shards, std::int64_t shard) {
  const std::int64_t rows = rows_of(batch);
  RowStacker own((rows - shard + shards - 1) / shards);
  for (std::int64_t row = shard; row < rows; row += shards) own.add_row(batch, row);
  return own.take();
}

FitBatches::FitBatches(const Server& server, const TrainingData& data, const BatchesOptions& options)
    : server_(server), elements_(data.elements()), size_(data.size()), options_(options) {
  check_batch_size(options_.batch_size);
  options_.shuffle = options_.shuffle && size_;
  if (options_.first > 0) elements_ = elements_.skip(options_.first);
  if (options_.count >= 0) elements_ = elements_.take(options_.count);
  if (size_) size_ = options_.count >= 0 ? options_.count : *size_ - options_.first;
  if (size_) expect_a_batch(*size_, options_.batch_size);
  if (options_.first_steps == 0) return;
  elements_ = first_batches(elements_, options_.batch_size, options_.first_steps);
  if (size_) size_ = std::min(*size_, examples_in(options_.first_steps, options_.batch_size));
}

std::optional<std::int64_t> FitBatches::steps() const {
  if (options_.steps_per_epoch > 0) return options_.steps_per_epoch;
  if (!size_) return std::nullopt;
  return (*size_ + options_.batch_size - 1) / options_.batch_size;
}

// Without looking at them: those of a job's dataset may lie on other tasks. Data without an end are
// counted for ever.
std::int64_t FitBatches::count_examples() const {
  using namespace std::chrono_literals;
  constexpr std::int64_t some = std::int64_t{1} << 12;
  Runtime& runtime = *server_.runtime();
  const StageRef elements = elements_.open({&runtime.storage(), &runtime.team()});
  elements->restart(0);
  auto next_report = runtime.clock().now() + 2s;
  std::int64_t count = 0;
  for (std::int64_t passed = some; passed == some; count += passed) {
    passed = elements->skip(some);
    if (const auto now = runtime.clock().now(); now >= next_report) {
      spdlog::info(
          "{} counts the examples of an epoch, {} so far; data without an end need "
          "steps_per_epoch",
          server_.name().to_string(), count + passed);
      next_report = now + 10s;
    }
  }
  return count;
}

void FitBatches::learn_size(std::int64_t examples) {
  if (!options_.may_be_few) expect_a_batch(examples, options_.batch_size);
  size_ = examples;
}

// A dataset that shuffles does so in each pass anew, so that later epochs are later passes.
Dataset FitBatches::examples_of(int epoch) {
  if (options_.shuffle) return elements_.shuffle({.seed = seed_of_epoch(options_.seed, epoch)});
  if (epoch == 1) return elements_;
  if (!size_) learn_size(count_examples());
  return later_passes(elements_, epoch - 1).take(*size_);
}

std::int64_t FitBatches::count_steps() {
  if (options_.steps_per_epoch == 0 && !size_) learn_size(count_examples());
  return *steps();
}

std::int64_t FitBatches::examples_of_batch(std::int64_t batch) const {
  if (options_.steps_per_epoch > 0) return options_.batch_size;
  return std::min(options_.batch_size, *size_ - batch * options_.batch_size);
}

std::int64_t FitBatches::examples_of_epoch() const {
  return options_.steps_per_epoch > 0 ? options_.steps_per_epoch * options_.batch_size : *size_;
}

Dataset FitBatches::batches_of(const Dataset& examples, std::int64_t first) const {
  const auto changed = [this](const Dataset& batches) {
    return (options_.change ? batches.map(options_.change) : batches).prefetch(2 * options_.parts);
  };
  if (options_.batch_size % options_.shards != 0)
    return changed(examples.batch(options_.batch_size)
                       .skip(first)
                       .map([shards = options_.shards, shard = options_.shard](const Tuple& batch) {
                         return rows_of_shard(batch, shards, shard);
                       }));
  const Dataset own = options_.shards > 1 ? examples.shard(options_.shards, options_.shard) : examples;
  Dataset batches = own.batch(options_.batch_size / options_.shards / options_.parts);
  if (first > 0) batches = batches.skip(first * options_.parts);
  if (options_.stride > 1) batches = batches.shard(options_.stride, 0);
  return changed(batches);
}

void FitBatches::begin_epoch(int epoch, std::int64_t batch) {
  steps_done_ = batch;
  examples_ = batch == 0 && options_.shards == 1 && options_.stride == 1 ? 0 : -1;
  if (options_.steps_per_epoch == 0) {
    iterator_.emplace(server_, batches_of(examples_of(epoch), batch));
    return;
  }
  const std::int64_t first = (epoch - 1) * options_.steps_per_epoch + batch;
  if (iterator_ && std::exchange(next_batch_, first) == first) return;
  const Dataset shuffled = options_.shuffle ? elements_.shuffle({.seed = options_.seed}) : elements_;
  iterator_.emplace(server_, batches_of(shuffled.repeat(), first));
  next_batch_ = first;
}

std::optional<Tuple> FitBatches::next() {
  ACTORFLOW_CHECK(options_.parts == 1, options_.parts);
  auto parts = next_parts();
  if (parts.empty()) return std::nullopt;
  return std::move(parts[0]);
}

std::vector<Tuple> FitBatches::next_parts() {
  std::vector<Tuple> parts;
  if (options_.steps_per_epoch > 0 && steps_done_ == options_.steps_per_epoch) return parts;
  const std::int64_t after = std::exchange(next_batch_, -1) + options_.stride;  // unless reading fails
  while (std::ssize(parts) < options_.parts) {
    auto part = next_of(*iterator_);
    if (!part || part->empty()) break;
    if (examples_ >= 0) examples_ += rows_of(*part);
    parts.push_back(std::move(*part));
  }
  next_batch_ = after;
  // The data have ended, also if the first batch is short.
  const bool ends = parts.empty() || (steps_done_ == 0 && examples_ < options_.batch_size);
  if (!size_ && examples_ > 0 && ends) learn_size(examples_);
  if (!parts.empty()) ++steps_done_;
  return parts;
}

}  // namespace actorflow

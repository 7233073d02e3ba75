// The batches of each epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/client/dataset_iterator.h"
#include "actors/models/fit/training_data.h"
#include "dataflow/graph/tensor_types.h"

namespace actorflow {

// The types of one example, from the first one. Throws invalid_argument if there is none.
std::vector<TensorType> types_of_example(const Dataset& elements);

// Throws invalid_argument unless it is 1 or more; returns it.
std::int64_t check_batch_size(std::int64_t batch_size);

struct BatchesOptions {
  std::int64_t batch_size = 32;
  bool shuffle = false;  // if the number of examples is known
  std::uint64_t seed = 1;
  std::int64_t steps_per_epoch = 0;    // 0: until the data end
  std::int64_t first = 0, count = -1;  // the part of the examples; -1: to the end
};

// Not thread-safe.
class Batches {
 public:
  // Throws invalid_argument if a batch is larger than all of the data, where that is known. REQUIRES:
  // the server outlives this.
  Batches(const Server& server, const TrainingData& data, const BatchesOptions& options);

  // Goes to a batch of an epoch; epochs are counted from 1, batches from 0.
  void begin_epoch(int epoch, std::int64_t batch);
  // The next batch, none at the end of the epoch. Throws what reading throws.
  std::optional<Tuple> next();
  // The number of batches of an epoch, if it is known by now.
  std::optional<std::int64_t> steps() const;

 private:
  Dataset examples_of(int epoch);
  std::int64_t count_examples() const;

  const Server& server_;
  Dataset elements_;
  std::optional<std::int64_t> size_;
  BatchesOptions options_;
  std::optional<DatasetIterator> iterator_;
  std::int64_t steps_done_ = 0;  // of this epoch
  std::int64_t examples_ = 0;    // of an epoch that was read from its beginning; else -1
};

}  // namespace actorflow

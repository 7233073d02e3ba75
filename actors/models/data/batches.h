// The batches of each epoch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "actors/client/dataset_iterator.h"
#include "actors/models/data/training_data.h"
#include "dataflow/graph/tensor_types.h"

namespace actorflow {

// The next element; none at the end.
std::optional<Tuple> next_of(DatasetIterator& iterator);

// The first example, read on the threads of the runtime; none: on threads of its own. Throws
// invalid_argument if there is none.
Tuple first_example(const Dataset& elements, std::shared_ptr<Runtime> runtime);
// The types of the first example, which is read likewise.
std::vector<TensorType> types_of_example(const Dataset& elements, std::shared_ptr<Runtime> runtime);

// Returns the size. Throws invalid_argument unless it is 1 or more.
std::int64_t check_batch_size(std::int64_t batch_size);

// Returns the steps. Throws invalid_argument, for a caller of this name, unless they are 0 or more.
std::int64_t check_steps(std::string_view caller, std::int64_t steps);

// The examples of the first so many batches; of all for 0.
Dataset first_batches(const Dataset& examples, std::int64_t batch_size, std::int64_t steps);

struct BatchesOptions {
  std::int64_t batch_size = 32;
  bool shuffle = false;  // if the number of examples is known
  std::uint64_t seed = 1;
  std::int64_t steps_per_epoch = 0;    // 0: until the data end
  std::int64_t first = 0, count = -1;  // the part of the examples; -1: to the end
  std::int64_t first_steps = 0;        // so many batches of that part, at most; 0: all
  bool may_be_few = false;             // data of unknown size may turn out to have less than a batch
  // The examples of one replica in each batch: number `shard`, `shard` + `shards`, ... If the batch size
  // is no multiple of `shards`, each replica reads whole batches. REQUIRES: `parts` is then 1.
  std::int64_t shards = 1, shard = 0;
  std::int64_t stride = 1;  // batches from one to the next
  // The micro-batches of a batch, or of a replica's part of it. REQUIRES: they divide it, and `stride`
  // is 1 if there are several.
  std::int64_t parts = 1;
  Dataset::Map change{};  // of a batch, or of a part; also of an empty tuple. None: as it is
};

// Rows number `shard`, `shard` + `shards`, ... of a batch; an empty tuple if there are none.
Tuple rows_of_shard(const Tuple& batch, std::int64_t shards, std::int64_t shard);

// Not thread-safe.
class FitBatches {
 public:
  // Throws invalid_argument if a batch is larger than all of the data, where that is known; where it is
  // not, whatever reads or counts them throws that, before it gives a batch. REQUIRES: the server
  // outlives this.
  FitBatches(const Server& server, const TrainingData& data, const BatchesOptions& options);

  // Goes to a batch of an epoch; epochs are counted from 1, batches from 0.
  void begin_epoch(int epoch, std::int64_t batch);
  // The next batch, none at the end of the epoch. Throws what reading throws. REQUIRES: a batch is one
  // part.
  std::optional<Tuple> next();
  // The same in micro-batches, of which the last batch of an epoch may have fewer; an empty list at the
  // end of the epoch.
  std::vector<Tuple> next_parts();
  // The number of batches of an epoch, whatever the stride, if it is known by now.
  std::optional<std::int64_t> steps() const;
  // The number of batches of an epoch, in any case: reads the data to their end if necessary.
  std::int64_t count_steps();
  // The examples of batch number `batch` of an epoch, of all replicas together. REQUIRES: count_steps()
  // was called.
  std::int64_t examples_of_batch(std::int64_t batch) const;
  // The examples of an epoch, of all replicas together.
  std::int64_t examples_of_epoch() const;

 private:
  Dataset examples_of(int epoch);
  Dataset batches_of(const Dataset& examples, std::int64_t first) const;
  std::int64_t count_examples() const;
  void learn_size(std::int64_t examples);

  const Server& server_;
  Dataset elements_;
  std::optional<std::int64_t> size_;
  BatchesOptions options_;
  std::optional<DatasetIterator> iterator_;
  std::int64_t steps_done_ = 0;  // of this epoch
  std::int64_t examples_ = 0;    // of an epoch that was read from its beginning; else -1
  std::int64_t next_batch_ = 0;  // of all epochs with steps_per_epoch, that the iterator gives next
};

}  // namespace actorflow

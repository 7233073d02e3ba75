// Input pipelines: sources of elements, and the stages between them and a step.
//
//   const Dataset batches = Dataset::idx({images, labels})
//                               .shuffle({.seed = 1})
//                               .repeat()
//                               .batch(64)
//                               .shard(workers, worker)
//                               .prefetch(2);
//   DatasetIterator it(server, batches);
//   for (Tuple batch = it.next(); ...)
//
// The same dataset gives the same elements in the same order on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/input/stage.h"
#include "dataflow/graph/tensor_types.h"
#include "schema/example.h"
#include "schema/formats/element_reader.h"

namespace actorflow {

struct ShuffleOptions {
  // The number of elements to draw from, as in TensorFlow. 0: all of them, in memory; such a shuffle can
  // be entered anywhere without reading earlier elements.
  std::int64_t buffer = 0;
  std::uint64_t seed = 1;
  bool each_pass_anew = true;  // of repeat()
};

struct BatchOptions {
  bool drop_remainder = false;  // elements at the end that do not fill a batch
};

struct MapOptions {
  // The number of elements that free threads map at once; the order stays.
  int parallel = 1;
};

struct InterleaveOptions {
  std::int64_t block_length = 1;  // elements of one dataset before the next one's turn
};

// A description of a pipeline; nothing is read before an iterator does. An element is a tuple of
// tensors. Copies are cheap. Thread-safe if the functions given to it are.
class Dataset {
 public:
  using Open = std::function<StageRef(const InputContext&)>;
  using Map = std::function<Tuple(Tuple)>;
  using Predicate = std::function<bool(const Tuple&)>;

  // A source of your own.
  explicit Dataset(Open open) : open_(std::move(open)) {}

  // The rows of tensors in memory, which are shared and not copied.
  static Dataset tensors(Tuple columns);
  // Files, by the formats of schema/formats/element_reader.h, plain or compressed by gzip, zstd or LZ4; of
  // several the elements one file after the other.
  static Dataset cifar10(const std::vector<std::string>& paths);
  static Dataset tfrecords(const std::vector<std::string>& paths);
  static Dataset lines(const std::vector<std::string>& paths);
  static Dataset csv(const std::vector<std::string>& paths, const CsvOptions& options);
  // IDX files side by side, such as images and labels: an element has a component of each. Falls back to
  // `path`.gz if there is no `path`. Fails as data_loss if they have different numbers of elements.
  static Dataset idx(const std::vector<std::string>& paths);
  // One element of each dataset, joined; ends with the first dataset that ends.
  static Dataset zip(const std::vector<Dataset>& datasets);
  static Dataset concatenate(const std::vector<Dataset>& datasets);
  // Elements of each dataset in turn, leaving out datasets that have ended.
  static Dataset interleave(const std::vector<Dataset>& datasets, const InterleaveOptions& options = {});

  Dataset shuffle(const ShuffleOptions& options) const;
  // The elements number `index`, `index` + `count`, ..., from 0 on.
  Dataset shard(std::int64_t count, std::int64_t index) const;
  // Stacks `size` elements of equal types along a new first dimension.
  Dataset batch(std::int64_t size, const BatchOptions& options = {}) const;
  // That many passes over the elements; -1: without end.
  Dataset repeat(std::int64_t passes = -1) const;
  // Applies a function to each element. It must be pure: skipping does not call it.
  Dataset map(Map function, const MapOptions& options = {}) const;
  Dataset filter(Predicate keeps) const;
  // The features of records that are tf.train.Examples (schema/example.h), the usual content of
  // tfrecords().
  Dataset parse_examples(std::vector<ExampleFeature> features, const MapOptions& options = {}) const;
  Dataset take(std::int64_t count) const;
  Dataset skip(std::int64_t count) const;
  // Computes up to that many elements before they are requested. Must be the last stage.
  Dataset prefetch(std::int64_t elements) const;
  // Adds a stage of your own after this one.
  Dataset then(std::function<StageRef(StageRef input, const InputContext&)> stage) const;

  StageRef open(const InputContext& context) const { return open_(context); }
  std::int64_t prefetched() const { return prefetch_; }

 private:
  Open open_;
  std::int64_t prefetch_ = 0;
};

// All elements, as rows. Throws what reading throws, and invalid_argument if elements differ in type.
Tuple read_all(const Dataset& dataset, const InputContext& context = {});

}  // namespace actorflow

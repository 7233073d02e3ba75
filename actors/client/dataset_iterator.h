// Iterators over datasets, for programs.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/input/dataset.h"

namespace actorflow {

class Runtime;
class Server;

// Runs the dataset's stages on the threads of a server, beside its steps. Not thread-safe.
class DatasetIterator {
 public:
  // REQUIRES: the server outlives this.
  DatasetIterator(const Server& server, const Dataset& dataset);
  // Runs the stages on the threads of the runtime; none: on threads of its own.
  explicit DatasetIterator(const Dataset& dataset, std::shared_ptr<Runtime> runtime = nullptr);
  DatasetIterator(DatasetIterator&&) noexcept;
  DatasetIterator& operator=(DatasetIterator&&) noexcept;
  // Waits until the functions of the dataset have returned.
  ~DatasetIterator();

  // The next element; waits for it, and says so after 2 s and then every 10 s. Throws out_of_range at
  // the end, as every later call does, and what reading throws: the next call tries the same element
  // again.
  Tuple next();
  // Makes next() return element number `position` of the dataset, from 0, so that a replica that
  // recovers goes on with the right batch. As cheap as the stages allow: whole shuffles, uncompressed
  // files of fixed-size records, and tensors do not read the elements that they skip.
  void skip_to(std::int64_t position);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow

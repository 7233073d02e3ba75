// A program's way to the elements of a dataset.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/input/dataset.h"

namespace actorflow {

class Server;

// Runs the dataset's stages on the threads of a server, beside its steps. Not thread-safe.
class DatasetIterator {
 public:
  // REQUIRES: the server outlives this.
  DatasetIterator(const Server& server, const Dataset& dataset);
  // On threads of its own.
  explicit DatasetIterator(const Dataset& dataset);
  DatasetIterator(DatasetIterator&&) noexcept;
  DatasetIterator& operator=(DatasetIterator&&) noexcept;
  // Waits until no function of the dataset runs any more.
  ~DatasetIterator();

  // Waits for it. Throws out_of_range at the end, and what reading throws; again with every later call.
  Tuple next();
  // next() gives element number `position` of the dataset then, from 0: a replica that recovers goes on
  // with the right batch. As cheap as the stages allow: whole shuffles, files of fixed-size records that
  // are not compressed, and tensors do not read what they pass over.
  void skip_to(std::int64_t position);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow

// Where the bytes of a new file go, one after the other: what writers of formats write to.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "schema/formats/compression.h"

namespace actorflow {

// Throws the Error of the storage that has the file. Not thread-safe.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  // Call after the last byte: without this the file is not complete.
  virtual void finish() = 0;
};

using SinkRef = std::unique_ptr<ByteSink>;

// Compresses what is written, with checksums; the sink itself for Compression::none.
SinkRef compressed(SinkRef sink, Compression compression);

}  // namespace actorflow

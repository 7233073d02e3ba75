// Where the bytes of a new file go, one after the other: what writers of formats write to.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "schema/formats/compression.h"

namespace actorflow {

// Throws Error of whoever has the file. Not thread-safe.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  // After the last byte. What was written without it is no whole file.
  virtual void finish() = 0;
};

using SinkRef = std::unique_ptr<ByteSink>;

// Compresses what is written, with checksums; the sink itself for Compression::none.
SinkRef compressed(SinkRef sink, Compression compression);

}  // namespace actorflow

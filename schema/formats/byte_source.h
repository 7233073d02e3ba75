// The bytes of a file in order, for readers of formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "schema/formats/compression.h"

namespace actorflow {

// Throws the Error of the storage that has the file. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `to`, or a part of it at the end of the file; returns the number of bytes.
  virtual std::size_t read(std::span<std::byte> to) = 0;
  // Skips that many bytes, fewer at the end of the file; returns the number of skipped bytes. Reads them
  // if it must.
  virtual std::uint64_t skip(std::uint64_t bytes);
  // An upper bound of the bytes that are left.
  virtual std::uint64_t most_bytes_left() = 0;
  virtual const std::string& name() const = 0;  // the file's, for errors
};

using SourceRef = std::unique_ptr<ByteSource>;

// What a compressed file contains, of all its members or frames; the same bytes if it is not compressed.
// Throws data_loss, naming file and offset, if the compressed data are damaged or end early.
SourceRef decompressed(SourceRef source, Compression compression);
// The same, with the compression recognised by the file's beginning. Only for formats that cannot begin
// like a compressed file: arbitrary bytes, such as fixed records, can.
SourceRef decompressed(SourceRef source);

}  // namespace actorflow

// The records of a TFRecord file (schema/tfrecord.h), read in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schema/formats/byte_source.h"
#include "schema/tfrecord.h"

namespace actorflow {

// Such a file is not cut into splits: only its beginning tells where records begin. Not thread-safe.
class TfRecordFile {
 public:
  explicit TfRecordFile(SourceRef source);

  // The next record, valid until the next call; none at the end. Throws as TfRecordReader.
  std::optional<std::span<const std::byte>> next();
  std::uint64_t offset() const { return offset_; }  // in the file, of this record
  const std::string& file() const { return source_->name(); }

 private:
  SourceRef source_;
  TfRecordReader records_;
  std::vector<std::byte> block_;
  std::uint64_t offset_ = 0;
};

}  // namespace actorflow

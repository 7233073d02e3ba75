// The records of fixed size of a split of a file, many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "dataflow/values/error.h"
#include "schema/formats/byte_source.h"
#include "schema/formats/split.h"

namespace actorflow {

// A file of records that lie back to back behind a header.
struct FixedRecords {
  std::size_t record_bytes = 0;  // at least 1
  std::uint64_t header_bytes = 0;
  std::uint64_t count = any_number;  // what the header announces

  static constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();
};

// Gives the records that begin in a split, about a block of them at a time. Not thread-safe.
class RecordBlocks {
 public:
  // The source gives the file from its beginning; of `split` only begin and end count.
  RecordBlocks(SourceRef source, const FixedRecords& records, const Split& split = {},
               std::size_t block_bytes = std::size_t{1} << 20);

  // Whole records; empty at the end. Valid until the next call. Throws data_loss, naming the file's
  // length and the record's, if the file ends within a record, has fewer than were announced, or goes on
  // behind them.
  std::span<const std::byte> next();
  std::uint64_t offset() const { return block_offset_; }  // in the file, of the first record
  const std::string& file() const { return source_->name(); }

 private:
  std::uint64_t first_record_from(std::uint64_t offset) const;
  void check_length(std::size_t got, std::size_t wanted);
  Error wrong_length(std::uint64_t bytes, const std::string& what) const;

  SourceRef source_;
  FixedRecords records_;
  std::uint64_t begin_, end_;  // of this split's records
  std::uint64_t announced_end_;
  std::uint64_t position_ = 0;
  std::uint64_t block_offset_ = 0;
  std::vector<std::byte> block_;
};

}  // namespace actorflow

// Records that are kept, some at a time as rows of tensors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actors/input/rows.h"
#include "actors/jobs/slices/kept_records.h"
#include "actors/jobs/tensors/record_tensors.h"
#include "schema/records/record_codec.h"

namespace actorflow {

template <class T>
class KeptRows {
 public:
  // Begins with these slices; what was left of others is dropped.
  void begin(SliceReader slices) {
    clear();
    slices_.emplace(std::move(slices));
  }
  void clear() { *this = KeptRows(); }

  // Whether there is a next record.
  bool fill() {
    if (row_ < rows_) return true;
    if (left_ == 0 && !next_slice()) return false;
    std::vector<T> block;
    for (; left_ > 0 && block.size() < block_records; --left_) block.push_back(decode<T>(*reader_));
    columns_ = tensors_of(std::span<const T>(block));
    row_ = 0;
    rows_ = std::ssize(block);
    return true;
  }
  // The next record. REQUIRES: fill().
  Tuple take() { return row_of(columns_, row_++); }
  void take_into(RowStacker& rows) { rows.add_row(columns_, row_++); }
  // Passes over so many records, or those that are decoded already, if these are fewer; returns how
  // many. REQUIRES: fill().
  std::int64_t pass(std::int64_t most) {
    const std::int64_t here = std::min(most, rows_ - row_);
    row_ += here;
    return here;
  }

 private:
  static constexpr std::uint64_t block_records = 256;

  bool next_slice() {
    SliceReader::Slice slice;
    if (!slices_ || !slices_->next(slice)) return false;
    reader_.emplace(slice.bytes);
    left_ = slice.records;
    return true;
  }

  std::optional<SliceReader> slices_;
  std::optional<RecordReader> reader_;  // of the present slice
  std::uint64_t left_ = 0;              // records in it
  Tuple columns_;                       // some records as rows
  std::int64_t row_ = 0, rows_ = 0;
};

}  // namespace actorflow

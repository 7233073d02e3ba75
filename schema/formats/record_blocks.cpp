#include "schema/formats/record_blocks.h"

#include <algorithm>
#include <string>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {

RecordBlocks::RecordBlocks(SourceRef source, const FixedRecords& records, const Split& split,
                           std::size_t block_bytes)
    : source_(std::move(source)),
      records_(records),
      begin_(first_record_from(split.begin)),
      end_(first_record_from(split.end)),
      announced_end_(records.count == FixedRecords::any_number
                         ? Split::to_its_end
                         : records.header_bytes + records.count * records.record_bytes) {
  block_.resize(std::max<std::size_t>(1, block_bytes / records_.record_bytes) * records_.record_bytes);
}

// Where the first record begins that does so at `offset` or behind it.
std::uint64_t RecordBlocks::first_record_from(std::uint64_t offset) const {
  ACTORFLOW_CHECK(records_.record_bytes > 0, "records of", records_.record_bytes, "bytes");
  if (offset <= records_.header_bytes) return records_.header_bytes;
  if (offset == Split::to_its_end) return offset;
  const std::uint64_t part = (offset - records_.header_bytes) % records_.record_bytes;
  return part == 0 ? offset : offset + (records_.record_bytes - part);
}

std::span<const std::byte> RecordBlocks::next() {
  if (position_ < begin_) position_ = source_->skip(begin_);
  if (position_ < begin_ || position_ >= end_) return {};
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(block_.size(), end_ - position_));
  const std::size_t got = source_->read(std::span(block_).first(wanted));
  check_length(got, wanted);
  block_offset_ = position_;
  position_ += got;
  return std::span(block_).first(got);
}

// A short read tells where the file ends.
void RecordBlocks::check_length(std::size_t got, std::size_t wanted) {
  const std::uint64_t end = position_ + got;
  if (end > announced_end_) throw wrong_length(end, "goes on behind them");
  if (got == wanted) return;
  if (const std::size_t part = got % records_.record_bytes; part != 0)
    throw wrong_length(end, "ends " + std::to_string(part) + " bytes into a record");
  if (announced_end_ != Split::to_its_end && end < announced_end_)
    throw wrong_length(end, "ends before");
}

Error RecordBlocks::wrong_length(std::uint64_t bytes, const std::string& what) const {
  const std::string count =
      announced_end_ == Split::to_its_end ? "" : std::to_string(records_.count) + " ";
  const std::string header =
      records_.header_bytes == 0 ? "" : " behind a header of " + std::to_string(records_.header_bytes);
  return Error(Code::data_loss, file() + ": expected " + count + "records of " +
                                    std::to_string(records_.record_bytes) + " bytes" + header +
                                    ", but the file has " + std::to_string(bytes) +
                                    " bytes or more and " + what);
}

}  // namespace actorflow

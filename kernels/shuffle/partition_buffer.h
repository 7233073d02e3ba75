// Collects a mapper's records and lays them out by partition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dataflow/values/buffer.h"
#include "dataflow/values/check.h"

namespace actorflow {

// Records by partition, one after the other without gaps, and within a partition in the order of their
// append().
struct Chunk {
  BufferRef bytes;
  std::vector<std::uint64_t> offsets;  // partition p lies from offsets[p] to offsets[p + 1]
  std::vector<std::uint64_t> records;  // how many there are in each partition
};

// Memory of constant size that is filled with records in any order of partitions. REQUIRES of all calls:
// one thread at a time.
class PartitionBuffer {
 public:
  static constexpr std::size_t default_capacity = std::size_t{16} << 20U;

  // The capacity, at most 4 GiB, includes 8 bytes for each record, or 4 where all have one size:
  // `record_bytes`, unless that is 0; none where there is one partition. The memory, and that of the
  // chunks, comes from the allocator, which outlives both: one that pools memory saves most of the time
  // that a chunk takes.
  explicit PartitionBuffer(std::uint32_t partitions, std::size_t capacity_bytes = default_capacity,
                           std::size_t record_bytes = 0, Allocator& allocator = heap());

  bool empty() const { return records_ == 0; }
  std::size_t records() const { return records_; }
  // Whether another record of that size lies in the memory that there is.
  bool has_room(std::size_t size) const {
    const auto room = static_cast<std::size_t>(entries_ - next_);
    return size <= room && room - size >= entry_bytes_;
  }
  // The same, or the buffer is empty: then it grows for any.
  bool fits(std::size_t size) const { return empty() || has_room(size); }
  // Where to write the record: `size` bytes, at any alignment, valid until take(). A record beyond the
  // capacity makes the buffer larger for itself. Throws resource_exhausted if there is no memory for
  // that, and invalid_argument for a record of 4 GiB. REQUIRES: fits(size), and the size that all
  // records have, if they have one.
  std::byte* append(std::uint32_t partition, std::size_t size) {
    check(partition, size);
    if (!has_room(size)) [[unlikely]]
      grow_for(size);
    std::byte* record = next_;
    next_ += size;
    ++records_;
    if (entry_bytes_ > 0) add_entry(partition, static_cast<std::uint32_t>(size));
    return record;
  }
  // The same for records of one size that lie one behind the other, in a buffer of one partition: for as
  // many of `count` as there is room for, and one at least, which `count` is then.
  std::byte* append_some(std::size_t size, std::size_t& count) {
    ACTORFLOW_CHECK(partitions_ == 1, "a buffer of", partitions_, "partitions");
    check(0, size);
    if (!has_room(size)) grow_for(size);
    count = std::min(count, static_cast<std::size_t>(entries_ - next_) / size);
    std::byte* records = next_;
    next_ += count * size;
    records_ += count;
    return records;
  }
  // All records, which the buffer then has no longer. Throws resource_exhausted if there is no memory:
  // nothing has changed then. Of one partition that fills most of the buffer no record is copied: the
  // chunk gets the memory, and the next record takes another.
  Chunk take();
  // Whether or not there are records in it.
  std::size_t memory_bytes() const { return size_of(memory_) + size_of(large_); }

 private:
  void check(std::uint32_t partition, std::size_t size) const {
    ACTORFLOW_CHECK(partition < partitions_, "partition", partition, "of", partitions_);
    ACTORFLOW_CHECK(record_bytes_ == 0 || size == record_bytes_, "a record of", size, "not",
                    record_bytes_);
  }
  void add_entry(std::uint32_t partition, std::uint32_t size) {
    entries_ -= entry_bytes_;
    std::memcpy(entries_, &partition, sizeof(partition));
    if (record_bytes_ == 0) std::memcpy(entries_ + sizeof(partition), &size, sizeof(size));
  }
  static std::size_t size_of(const BufferRef& memory) { return memory ? memory->size_bytes() : 0; }
  void grow_for(std::size_t size);
  void use(const BufferRef& memory, std::size_t bytes);
  Chunk take_one();
  template <class Visit>
  void for_each(Visit visit) const;
  template <class Size>
  void lay_out(Chunk& chunk, Size size) const;
  void count(Chunk& chunk) const;

  const std::uint32_t partitions_;
  const std::size_t capacity_bytes_, record_bytes_, entry_bytes_;
  Allocator& allocator_;
  BufferRef memory_;  // none: a chunk has it, and no record has come since
  BufferRef large_;   // in its place, for a record beyond the capacity
  // Records grow from the beginning, and entries, the partition of each and its size unless all have
  // one, from the end. One partition needs no entries.
  std::byte *begin_ = nullptr, *next_ = nullptr, *entries_ = nullptr, *end_ = nullptr;
  std::size_t records_ = 0;
};

}  // namespace actorflow

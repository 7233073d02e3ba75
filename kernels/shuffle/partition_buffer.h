// Collects a mapper's records and lays them out by partition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
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

// Memory of constant size that is filled with records in any order of partitions. Each partition fills
// segments of the memory, which take() joins: two plain copies of each record. When it is full follows
// from the records alone. REQUIRES of all calls: one thread at a time.
class PartitionBuffer {
 public:
  static constexpr std::size_t default_capacity = std::size_t{16} << 20U;

  // The capacity, at most 4 GiB, includes what is left over of segments: some eighth of it where records
  // are small, more where there are so many partitions that each has room for a few of them only,
  // nothing where there is one. The memory, and that of the chunks, comes from the allocator, which
  // outlives both: one that pools memory saves most of the time that a chunk takes.
  explicit PartitionBuffer(std::uint32_t partitions, std::size_t capacity_bytes = default_capacity,
                           Allocator& allocator = heap());

  bool empty() const { return free_ == begin_; }
  // Whether another record of that size lies in the memory that there is.
  bool has_room(std::uint32_t partition, std::size_t size) const {
    check(partition);
    return static_cast<std::ptrdiff_t>(size) <= open_[partition].room || has_free(size);
  }
  // The same, or the buffer is empty: then it grows for any.
  bool fits(std::uint32_t partition, std::size_t size) const {
    return empty() || has_room(partition, size);
  }
  // Where to write the record: `size` bytes, at any alignment, valid until take(). A record beyond the
  // capacity makes the buffer larger for itself. Throws resource_exhausted if there is no memory for
  // that, and invalid_argument for a record of 4 GiB. REQUIRES: fits(partition, size).
  std::byte* append(std::uint32_t partition, std::size_t size) {
    check(partition);
    return append_to(open_with_room(partition, size), size, 1);
  }
  // The same for records of one size that lie one behind the other, in a buffer of one partition: for as
  // many of `count` as there is room for, and one at least, which `count` is then.
  std::byte* append_some(std::size_t size, std::size_t& count) {
    ACTORFLOW_CHECK(partitions_ == 1, "a buffer of", partitions_, "partitions");
    OpenSegment& open = open_with_room(0, size);
    count = std::min(count, static_cast<std::size_t>(open.room) / size);
    return append_to(open, count * size, count);
  }
  // All records, which the buffer then has no longer. Throws resource_exhausted if there is no memory:
  // nothing has changed then. Of one partition that fills most of the buffer no record is copied: the
  // chunk gets the memory, and the next record takes another.
  Chunk take();
  // Whether or not there are records in it.
  std::size_t memory_bytes() const { return size_of(memory_) + size_of(large_); }

 private:
  // The records of a partition that lie one behind the other; before them in memory the same of the
  // segment that the partition has filled before.
  struct Segment {
    std::byte *begin, *end;
  };
  // Of a partition: the segment that it fills.
  struct OpenSegment {
    std::byte *begin = nullptr, *next = nullptr;
    std::ptrdiff_t room = -1;   // without a segment there is none, not even for a record of no bytes
    std::uint64_t records = 0;  // of all segments
  };

  void check(std::uint32_t partition) const {
    ACTORFLOW_CHECK(partition < partitions_, "partition", partition, "of", partitions_);
  }
  OpenSegment& open_with_room(std::uint32_t partition, std::size_t size) {
    OpenSegment& open = open_[partition];
    if (static_cast<std::ptrdiff_t>(size) > open.room) [[unlikely]]
      open_segment(open, size);
    return open;
  }
  static std::byte* append_to(OpenSegment& open, std::size_t bytes, std::size_t records) {
    open.room -= static_cast<std::ptrdiff_t>(bytes);
    open.records += records;
    return std::exchange(open.next, open.next + bytes);
  }
  std::size_t free_bytes() const { return static_cast<std::size_t>(end_ - free_); }
  bool has_free(std::size_t size) const {
    return size <= free_bytes() && free_bytes() - size >= head_bytes_ && free_bytes() > 0;
  }
  static std::size_t size_of(const BufferRef& memory) { return memory ? memory->size_bytes() : 0; }
  void open_segment(OpenSegment& open, std::size_t size);
  void grow_for(std::size_t size);
  void use(const BufferRef& memory, std::size_t bytes);
  Chunk take_one();
  Chunk join() const;

  const std::uint32_t partitions_;
  const std::size_t capacity_bytes_, head_bytes_, segment_bytes_;
  Allocator& allocator_;
  BufferRef memory_;  // none: a chunk has it, and no record has come since
  BufferRef large_;   // in its place, for a record beyond the capacity
  std::byte *begin_ = nullptr, *free_ = nullptr, *end_ = nullptr;
  std::vector<OpenSegment> open_;  // by partition
};

}  // namespace actorflow

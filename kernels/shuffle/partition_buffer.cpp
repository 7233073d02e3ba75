#include "kernels/shuffle/partition_buffer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t most_bytes = std::numeric_limits<std::uint32_t>::max();

// What is not used of a buffer counts as memory of its chunk. A pool's block may be a quarter larger
// than the buffer that fills it.
constexpr std::size_t least_given_away(std::size_t block_bytes) {
  return std::max<std::size_t>(1, block_bytes / 4 * 3);
}

// Four of each partition, or shorter ones where those would not be copied any faster.
std::size_t segment_bytes_of(std::uint32_t partitions, std::size_t capacity_bytes) {
  constexpr std::size_t least = 64, most = std::size_t{16} << 10U;
  return std::clamp(capacity_bytes / partitions / 4, least, most);
}

}  // namespace

PartitionBuffer::PartitionBuffer(std::uint32_t partitions, std::size_t capacity_bytes,
                                 Allocator& allocator)
    : partitions_(partitions),
      capacity_bytes_(capacity_bytes),
      head_bytes_(partitions == 1 ? 0 : sizeof(Segment)),
      segment_bytes_(partitions == 1 ? capacity_bytes : segment_bytes_of(partitions, capacity_bytes)),
      allocator_(allocator),
      memory_(allocator.allocate(capacity_bytes)) {
  ACTORFLOW_CHECK(capacity_bytes <= most_bytes + 1, "a capacity of", capacity_bytes, "bytes");
  use(memory_, capacity_bytes);
}

void PartitionBuffer::use(const BufferRef& memory, std::size_t bytes) {
  begin_ = free_ = memory ? static_cast<std::byte*>(memory->data()) : nullptr;
  end_ = memory ? begin_ + bytes : nullptr;
  open_.resize(partitions_);  // at first; later references to them stay valid
  std::ranges::fill(open_, OpenSegment{});
}

// For whole records of this size, so that nothing is left over of it; the last segment of the memory may
// be shorter.
void PartitionBuffer::open_segment(OpenSegment& open, std::size_t size) {
  if (!has_free(size)) grow_for(size);
  const std::size_t room = segment_bytes_ - head_bytes_;
  const std::size_t whole = head_bytes_ == 0 || size == 0 ? room : room / size * size;
  const std::size_t bytes = std::min(head_bytes_ + std::max(size, whole), free_bytes());
  const Segment filled{open.begin, open.next};
  if (head_bytes_ > 0) std::memcpy(free_, &filled, head_bytes_);
  open.begin = open.next = free_ + head_bytes_;
  open.room = static_cast<std::ptrdiff_t>(bytes - head_bytes_);
  free_ += bytes;
}

void PartitionBuffer::grow_for(std::size_t size) {
  ACTORFLOW_CHECK(empty(), "a record of", size, "bytes, for which there is no room");
  if (!memory_) {
    memory_ = allocator_.allocate(capacity_bytes_);
    use(memory_, capacity_bytes_);
    if (has_free(size)) return;
  }
  if (size > most_bytes)
    throw invalid_argument("a record of " + std::to_string(size) + " bytes: expected at most " +
                           std::to_string(most_bytes));
  large_ = allocator_.allocate(size + head_bytes_);
  use(large_, size + head_bytes_);
}

Chunk PartitionBuffer::take() {
  Chunk chunk = partitions_ == 1 ? take_one() : join();
  large_ = {};
  use(memory_, capacity_bytes_);
  return chunk;
}

// Its records lie as they are to lie.
Chunk PartitionBuffer::take_one() {
  const auto bytes = static_cast<std::size_t>(open_[0].next - open_[0].begin);
  Chunk chunk{{}, {0, bytes}, {open_[0].records}};
  BufferRef& used = large_ ? large_ : memory_;
  if (bytes >= least_given_away(size_of(used))) {
    chunk.bytes = std::exchange(used, {});
  } else {
    chunk.bytes = allocator_.allocate(bytes);
    if (bytes > 0) std::memcpy(chunk.bytes->data(), begin_, bytes);
  }
  return chunk;
}

Chunk PartitionBuffer::join() const {
  // From a partition's last segment to its first one.
  const auto for_each_segment = [](const OpenSegment& open, auto visit) {
    for (Segment segment{open.begin, open.next}; segment.begin;) {
      visit(segment.begin, static_cast<std::size_t>(segment.end - segment.begin));
      std::memcpy(&segment, segment.begin - sizeof segment, sizeof segment);
    }
  };
  Chunk chunk{{}, {0}, {}};
  chunk.offsets.reserve(partitions_ + std::size_t{1});
  chunk.records.reserve(partitions_);
  for (const OpenSegment& open : open_) {
    std::uint64_t end = chunk.offsets.back();
    for_each_segment(open, [&](const std::byte*, std::size_t size) { end += size; });
    chunk.offsets.push_back(end);
    chunk.records.push_back(open.records);
  }
  chunk.bytes = allocator_.allocate(chunk.offsets.back());
  for (std::size_t i = 0; i < partitions_; ++i) {
    std::byte* to = static_cast<std::byte*>(chunk.bytes->data()) + chunk.offsets[i + 1];
    for_each_segment(open_[i], [&](const std::byte* from, std::size_t size) {
      to -= size;
      std::memcpy(to, from, size);
    });
  }
  return chunk;
}

}  // namespace actorflow

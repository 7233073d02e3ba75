#include "kernels/shuffle/partition_buffer.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "dataflow/values/error.h"
#include "kernels/shuffle/copy_record.h"

namespace actorflow {

constexpr std::size_t most_bytes = std::numeric_limits<std::uint32_t>::max();

// What is not used of a buffer counts as memory of its chunk. A pool's block may be a quarter larger
// than the buffer that fills it.
constexpr std::size_t least_given_away(std::size_t block_bytes) {
  return std::max<std::size_t>(1, block_bytes / 4 * 3);
}

PartitionBuffer::PartitionBuffer(std::uint32_t partitions, std::size_t capacity_bytes,
                                 std::size_t record_bytes, Allocator& allocator)
    : partitions_(partitions),
      capacity_bytes_(capacity_bytes),
      record_bytes_(record_bytes),
      entry_bytes_(partitions == 1     ? 0
                   : record_bytes == 0 ? 2 * sizeof(std::uint32_t)
                                       : sizeof(std::uint32_t)),
      allocator_(allocator),
      memory_(allocator.allocate(capacity_bytes)) {
  ACTORFLOW_CHECK(capacity_bytes <= most_bytes + 1, "a capacity of", capacity_bytes, "bytes");
  use(memory_, capacity_bytes);
}

void PartitionBuffer::use(const BufferRef& memory, std::size_t bytes) {
  begin_ = next_ = memory ? static_cast<std::byte*>(memory->data()) : nullptr;
  entries_ = end_ = memory ? begin_ + bytes : nullptr;
  records_ = 0;
}

void PartitionBuffer::grow_for(std::size_t size) {
  ACTORFLOW_CHECK(empty(), "a record of", size, "bytes, for which there is no room");
  if (!memory_) {
    memory_ = allocator_.allocate(capacity_bytes_);
    use(memory_, capacity_bytes_);
    if (has_room(size)) return;
  }
  if (size > most_bytes)
    throw invalid_argument("a record of " + std::to_string(size) + " bytes: expected at most " +
                           std::to_string(most_bytes));
  large_ = allocator_.allocate(size + entry_bytes_);
  use(large_, size + entry_bytes_);
}

// Calls visit(partition, size) for each record.
template <class Visit>
void PartitionBuffer::for_each(Visit visit) const {
  for (const std::byte* entry = end_ - entry_bytes_; entry >= entries_; entry -= entry_bytes_) {
    std::uint32_t partition = 0, size = static_cast<std::uint32_t>(record_bytes_);
    std::memcpy(&partition, entry, sizeof(partition));
    if (record_bytes_ == 0) std::memcpy(&size, entry + sizeof(partition), sizeof(size));
    visit(partition, size);
  }
}

Chunk PartitionBuffer::take() {
  Chunk chunk = partitions_ == 1 ? take_one()
                                 : Chunk{allocator_.allocate(static_cast<std::size_t>(next_ - begin_)),
                                         std::vector<std::uint64_t>(partitions_ + std::size_t{1}),
                                         std::vector<std::uint64_t>(partitions_)};
  if (partitions_ > 1) {
    count(chunk);
    detail::with_constant_size(record_bytes_, [&](auto size) { lay_out(chunk, size); });
  }
  large_ = {};
  use(memory_, capacity_bytes_);
  return chunk;
}

// Its records lie as they are to lie.
Chunk PartitionBuffer::take_one() {
  const auto bytes = static_cast<std::size_t>(next_ - begin_);
  Chunk chunk{{}, {0, bytes}, {records_}};
  BufferRef& used = large_ ? large_ : memory_;
  if (bytes >= least_given_away(size_of(used))) {
    chunk.bytes = std::exchange(used, {});
  } else {
    chunk.bytes = allocator_.allocate(bytes);
    if (bytes > 0) std::memcpy(chunk.bytes->data(), begin_, bytes);
  }
  return chunk;
}

void PartitionBuffer::count(Chunk& chunk) const {
  for_each([&](std::uint32_t partition, std::size_t size) {
    chunk.offsets[partition + std::size_t{1}] += size;
    ++chunk.records[partition];
  });
  for (std::size_t i = 0; i < partitions_; ++i) chunk.offsets[i + 1] += chunk.offsets[i];
}

// `size`: of each record, or 0.
template <class Size>
void PartitionBuffer::lay_out(Chunk& chunk, Size size) const {
  auto* out = static_cast<std::byte*>(chunk.bytes->data());
  std::vector<std::uint64_t> places(chunk.offsets.begin(), chunk.offsets.end() - 1);
  const std::byte* record = begin_;
  const auto copy = [&](std::uint32_t partition, auto record_size) {
    detail::copy_record(out + places[partition], record, record_size);
    places[partition] += record_size;
    record += record_size;
  };
  if (size == 0)
    for_each([&](std::uint32_t partition, std::size_t own_size) { copy(partition, own_size); });
  else
    for_each([&](std::uint32_t partition, std::size_t) { copy(partition, size); });
}

}  // namespace actorflow

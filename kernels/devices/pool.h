// A pool of buffers. Fresh pages cost several times a copy into them, so freed blocks are kept and
// reused by size class: four classes per power of two, so that at most a fifth of a block is unused.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>

#include "dataflow/values/buffer.h"

namespace actorflow {

// The source of a pool's blocks. Thread-safe.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // A block aligned to buffer_alignment, or null if there is no more memory.
  virtual void* take(std::size_t size_bytes) = 0;
  // Returns a block. REQUIRES: the size is the one given to take().
  virtual void give_back(void* data, std::size_t size_bytes) noexcept = 0;
  // Has somebody release buffers of the pool who can do without them. False if nobody has.
  virtual bool reclaim() noexcept { return false; }
  // All of its memory, whoever holds it; without a limit the largest number.
  virtual std::size_t total_bytes() const { return std::numeric_limits<std::size_t>::max(); }
  virtual MemorySpace space() const = 0;
  // The name in messages: "CPU:0".
  virtual std::string name() const = 0;
};

// The machine's memory. Blocks from 2 MiB up are aligned to 2 MiB and ask for huge pages.
MemorySource& host_memory();

// The default limit: a quarter of the machine's memory.
std::size_t default_max_cached_bytes();

struct PoolStatistics {
  std::size_t bytes_in_use = 0;
  std::size_t bytes_cached = 0;
  std::size_t buffers_in_use = 0;
  std::uint64_t allocations = 0;
  std::uint64_t hits = 0;  // allocations that a cached block served
};

// Thread-safe: a lock per size class. A buffer's size_bytes() is that of its class. Must outlive its
// buffers.
class Pool final : public Allocator {
 public:
  // When the cached blocks exceed max_cached_bytes, those that are over it are given back, and a
  // sixteenth of it more, so that the next releases need not look for any: first those of the size
  // classes that have served no allocation for the longest time.
  explicit Pool(MemorySource& source, std::size_t max_cached_bytes = default_max_cached_bytes());
  ~Pool() override;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // If the source has no more memory, gives back all cached blocks and tries again, as often as the
  // source can reclaim some; then, and at once for more than all of the source's memory, throws
  // resource_exhausted that names the size and the holders of the memory.
  BufferRef allocate(std::size_t size_bytes) override;
  MemorySpace space() const override { return source_.space(); }

  // Gives all cached blocks back to the source.
  void trim() noexcept;
  // The sum over all size classes, each counted at a different moment.
  PoolStatistics statistics() const;

 private:
  struct Block;
  // Aligned to cache lines, so that threads that use different sizes do not slow each other down.
  struct alignas(buffer_alignment) SizeClass {
    mutable std::mutex mutex;
    Block* free = nullptr;
    std::size_t blocks = 0;  // in use or free
    std::size_t free_blocks = 0;
    std::uint64_t allocations = 0;
    std::uint64_t hits = 0;
    std::uint64_t last_used = 0;  // the clock at its latest allocation
  };
  static constexpr std::size_t num_classes = 160;  // up to 64 TiB

  void release(Buffer* buffer) override;
  Block* take_cached(SizeClass& size_class);
  Block* make_block(std::size_t index, std::size_t size_bytes);
  void* take(std::size_t class_bytes);
  void* take_after_trim(std::size_t class_bytes);
  void give_back_excess() noexcept;
  void give_back(SizeClass& size_class, std::size_t at_least_bytes) noexcept;
  void destroy(Block* block) noexcept;
  std::string out_of_memory(std::size_t size_bytes) const;

  MemorySource& source_;
  const std::size_t max_cached_bytes_;
  alignas(buffer_alignment) std::atomic<std::size_t> cached_bytes_{0};
  // Counts allocations that no cached block served: only these make the cache grow. Beside
  // cached_bytes_, which a hit writes anyway.
  std::atomic<std::uint64_t> clock_{0};
  std::array<SizeClass, num_classes> classes_;
};

}  // namespace actorflow

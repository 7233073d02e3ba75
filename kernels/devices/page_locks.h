// Page-locked host memory: a GPU reads and writes it without help of the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "dataflow/values/tensor.h"
#include "kernels/devices/pool.h"

namespace actorflow {

// Keeps pages where they are, so that GPUs can reach them. Thread-safe.
class PageLocker {
 public:
  virtual ~PageLocker() = default;
  // False if the system refuses.
  virtual bool lock(void* data, std::size_t size_bytes) noexcept = 0;
  // REQUIRES: locked, and no copy is under way.
  virtual void unlock(void* data) noexcept = 0;
};

// A source of blocks for a pool. Locking a block takes as long as some copies of it, so only those are
// locked that are copied between host and GPU again and again. Thread-safe.
class LockableMemory final : public MemorySource {
 public:
  // Smaller blocks share their pages with others, and their copies by the processor are short.
  static constexpr std::size_t min_block_bytes = std::size_t{2} << 20U;

  // Never locks more than `max_locked_bytes` at a time.
  LockableMemory(MemorySource& source, std::size_t max_locked_bytes)
      : source_(source), max_locked_bytes_(max_locked_bytes) {}

  // Whether the block is page-locked. Call it before each copy to or from a GPU: it locks the block
  // before its second copy. If that is refused, it tries again before the 4th, 8th, 16th ... `locker`
  // must outlive this. REQUIRES: taken from this source, and in use.
  bool is_locked_for_copy(void* data, std::size_t size_bytes, PageLocker& locker);

  void* take(std::size_t size_bytes) override { return source_.take(size_bytes); }
  // Unlocks it first.
  void give_back(void* data, std::size_t size_bytes) noexcept override;
  MemorySpace space() const override { return source_.space(); }
  std::string name() const override { return source_.name(); }

 private:
  struct Block {
    std::uint64_t copies = 0;
    PageLocker* locked_by = nullptr;
  };

  void unlock(void* data, std::size_t size_bytes) noexcept;

  MemorySource& source_;
  const std::size_t max_locked_bytes_;
  std::mutex mutex_;
  std::size_t locked_bytes_ = 0;
  std::unordered_map<void*, Block> blocks_;  // those that have been copied
};

// The memory of cpu_device()'s pool, of which up to an eighth of the machine's memory is locked.
LockableMemory& cpu_memory();

// is_locked_for_copy() of the tensor's block; false unless the tensor is of cpu_device()'s pool.
bool is_locked_for_copy(const Tensor& host, PageLocker& locker);

}  // namespace actorflow

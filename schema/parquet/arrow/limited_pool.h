// Memory for the pages of a file, up to a limit.
#pragma once

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <cstdint>
#include <string>

namespace actorflow {

// Arrow's memory, of which no more than the limit is out at once: what a page announces, which may be
// damaged, is asked for before anything is read. What is above the limit fails as CapacityError, what
// the machine does not have as OutOfMemory. Not thread-safe.
class LimitedPool final : public arrow::MemoryPool {
 public:
  explicit LimitedPool(std::int64_t limit) : limit_(limit) {}

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override;
  arrow::Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                           std::uint8_t** memory) override;
  void Free(std::uint8_t* memory, std::int64_t size, std::int64_t alignment) override;
  std::int64_t bytes_allocated() const override { return allocated_; }
  std::int64_t total_bytes_allocated() const override { return total_; }
  std::int64_t num_allocations() const override { return allocations_; }
  std::string backend_name() const override { return from_.backend_name(); }

 private:
  arrow::Status expect_room(std::int64_t size, std::int64_t freed) const;
  void count(std::int64_t size, std::int64_t freed);

  arrow::MemoryPool& from_ = *arrow::default_memory_pool();
  const std::int64_t limit_;
  std::int64_t allocated_ = 0, total_ = 0, allocations_ = 0;
};

}  // namespace actorflow

#include "kernels/devices/page_locks.h"

#include <bit>

#include "kernels/devices/device.h"

namespace actorflow {

bool LockableMemory::is_locked_for_copy(void* data, std::size_t size_bytes, PageLocker& locker) {
  if (size_bytes < min_block_bytes) return false;
  const std::lock_guard lock(mutex_);
  Block& block = blocks_[data];
  if (block.locked_by) return true;
  const bool try_now = ++block.copies > 1 && std::has_single_bit(block.copies);
  if (!try_now || size_bytes > max_locked_bytes_ - locked_bytes_) return false;
  if (!locker.lock(data, size_bytes)) return false;
  block.locked_by = &locker;
  locked_bytes_ += size_bytes;
  return true;
}

void LockableMemory::give_back(void* data, std::size_t size_bytes) noexcept {
  if (size_bytes >= min_block_bytes) unlock(data, size_bytes);
  source_.give_back(data, size_bytes);
}

void LockableMemory::unlock(void* data, std::size_t size_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(data);
  if (found == blocks_.end()) return;
  if (PageLocker* const locker = found->second.locked_by) {
    locker->unlock(data);
    locked_bytes_ -= size_bytes;
  }
  blocks_.erase(found);
}

LockableMemory& cpu_memory() {
  // Never destroyed: the pool may outlive any other static.
  static auto* memory = new LockableMemory(host_memory(), default_max_cached_bytes() / 2);
  return *memory;
}

bool is_locked_for_copy(const Tensor& host, PageLocker& locker) {
  const Buffer* const buffer = host.buffer().get();
  if (!buffer || &buffer->owner() != &cpu_device().allocator()) return false;
  return cpu_memory().is_locked_for_copy(buffer->data(), buffer->size_bytes(), locker);
}

}  // namespace actorflow

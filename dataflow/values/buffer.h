// Reference-counted memory under a tensor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "dataflow/values/same_build.h"

namespace actorflow {

inline constexpr std::size_t buffer_alignment = 64;

// The memory in which the bytes live. Host code may touch host memory only.
enum class MemorySpace : std::uint8_t { host, cuda };

class Allocator;

// A block of memory that returns to its allocator with the last BufferRef. The count is thread-safe;
// access to the bytes is not synchronised. Bytes that belong to another process can only be read: such a
// buffer is never exclusive.
class Buffer {
 public:
  enum class Access : std::uint8_t { read_write, read_only };
  Buffer(void* data, std::size_t size_bytes, Allocator& owner, Access access = Access::read_write)
      : data_(data), size_bytes_(size_bytes), owner_(owner), access_(access) {}
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }
  Allocator& owner() const { return owner_; }

 private:
  friend class BufferRef;
  void* data_;
  std::size_t size_bytes_;
  Allocator& owner_;
  const Access access_;
  std::atomic<std::uint32_t> references_{0};
};

class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) { retain(); }
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) { retain(); }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() { release(); }

  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  // True if no other reference exists, so that the bytes may be changed in place.
  bool exclusive() const {
    return buffer_ && buffer_->access_ == Buffer::Access::read_write &&
           buffer_->references_.load(std::memory_order_acquire) == 1;
  }

 private:
  void retain() {
    if (buffer_) buffer_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  void release();

  Buffer* buffer_ = nullptr;
};

// Makes buffers aligned to buffer_alignment. Thread-safe. Must outlive its buffers.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // Throws resource_exhausted, naming the size, if there is no memory. The bytes are not initialised.
  virtual BufferRef allocate(std::size_t size_bytes) = 0;
  virtual MemorySpace space() const { return MemorySpace::host; }

 protected:
  friend class BufferRef;
  virtual void release(Buffer* buffer) = 0;
};

inline void BufferRef::release() {
  if (buffer_ && buffer_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    buffer_->owner().release(buffer_);
}

// Plain aligned heap memory: for constants and small things. Kernels and links take theirs from a pool.
Allocator& heap();

}  // namespace actorflow

#include "test/actors/support/failing_memory.h"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

thread_local std::uint64_t left = 0;

// Null where there is none.
void* take(std::size_t size, std::size_t alignment) noexcept {
  if (left > 0 && --left == 0) return nullptr;
  void* data = nullptr;
  return posix_memalign(&data, alignment, size) == 0 ? data : nullptr;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (void* data = take(size, alignment)) return data;
  throw std::bad_alloc();
}

}  // namespace

namespace actorflow::test {

void fail_allocation(std::uint64_t n) { left = n; }
std::uint64_t allocations_left() { return std::exchange(left, 0); }

}  // namespace actorflow::test

// The other forms of the standard library call these; without exceptions, that of a sanitizer would not.
void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return take(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }

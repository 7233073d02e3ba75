#include "dataflow/values/buffer.h"

#include <sys/mman.h>

#include <bit>
#include <cstdint>
#include <new>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::align_val_t alignment{buffer_alignment};

// Rows of a large tensor that are read in any order, as by a shuffle, would each wait for the address of
// a page. A wish: without it the pages are small.
void ask_for_huge_pages(void* data, std::size_t size_bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20U;
  const auto begin = std::bit_cast<std::uintptr_t>(data);
  const std::size_t before = (huge_page - begin % huge_page) % huge_page;
  if (size_bytes < before + huge_page) return;
  madvise(static_cast<std::byte*>(data) + before, (size_bytes - before) / huge_page * huge_page,
          MADV_HUGEPAGE);
}

class Heap final : public Allocator {
 public:
  BufferRef allocate(std::size_t size_bytes) override {
    void* data = ::operator new(size_bytes, alignment, std::nothrow);
    if (!data)
      throw Error(Code::resource_exhausted,
                  "out of memory: could not allocate " + std::to_string(size_bytes) + " bytes");
    ask_for_huge_pages(data, size_bytes);
    try {
      return BufferRef(new Buffer(data, size_bytes, *this));
    } catch (...) {
      ::operator delete(data, alignment);
      throw;
    }
  }

 private:
  void release(Buffer* buffer) override {
    ::operator delete(buffer->data(), alignment);
    delete buffer;
  }
};

}  // namespace

Allocator& heap() {
  // Never destroyed: static tensors may outlive any other static.
  static auto* instance = new Heap;
  return *instance;
}

}  // namespace actorflow

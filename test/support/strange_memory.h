// Allocators of memory that cannot be read.
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "dataflow/values/buffer.h"

namespace actorflow::test {

// Address space without memory: whoever reads it crashes.
class Nowhere final : public Allocator {
 public:
  BufferRef allocate(std::size_t size_bytes) override {
    void* nowhere = mmap(nullptr, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return BufferRef(new Buffer(nowhere, size_bytes, *this));
  }

 private:
  void release(Buffer* buffer) override { delete buffer; }
};

// Says that its memory is a GPU's; there is none.
class ClaimsToBeOnGpu final : public Allocator {
 public:
  BufferRef allocate(std::size_t size_bytes) override {
    return BufferRef(new Buffer(nullptr, size_bytes, *this));
  }
  MemorySpace space() const override { return MemorySpace::cuda; }

 private:
  void release(Buffer* buffer) override { delete buffer; }
};

}  // namespace actorflow::test

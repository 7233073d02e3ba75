#include "dataflow/values/borrowed_buffer.h"

#include <utility>

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

class Borrower final : public Allocator {
 public:
  BufferRef allocate(std::size_t size_bytes) override { return heap().allocate(size_bytes); }

 private:
  void release(Buffer* buffer) override { delete buffer; }
};

// A part of a buffer. Read-only, since holders of the whole may still read these bytes.
class Part final : public Buffer {
 public:
  Part(BufferRef whole, std::size_t begin, std::size_t size_bytes)
      : Buffer(static_cast<std::byte*>(whole->data()) + begin, size_bytes, borrower(),
               Access::read_only),
        whole_(std::move(whole)) {}

 private:
  const BufferRef whole_;
};

}  // namespace

Allocator& borrower() {
  static auto* only = new Borrower;  // never destroyed: tensors may outlive any other static
  return *only;
}

BufferRef part_of(BufferRef whole, std::size_t begin, std::size_t size_bytes) {
  ACTORFLOW_CHECK(whole && whole->owner().space() == MemorySpace::host, "a buffer on the host");
  ACTORFLOW_CHECK(begin <= whole->size_bytes() && size_bytes <= whole->size_bytes() - begin,
                  "bytes from", begin, "on,", size_bytes, "of", whole->size_bytes());
  return BufferRef(new Part(std::move(whole), begin, size_bytes));
}

}  // namespace actorflow

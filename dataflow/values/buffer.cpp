#include "dataflow/values/buffer.h"

#include <new>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::align_val_t alignment{buffer_alignment};

class Heap final : public Allocator {
 public:
  BufferRef allocate(std::size_t size_bytes) override {
    void* data = ::operator new(size_bytes, alignment, std::nothrow);
    if (!data)
      throw Error(Code::resource_exhausted,
                  "out of memory: could not allocate " + std::to_string(size_bytes) + " bytes");
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

// Memory that processes of one machine share: written by one, read by the others. Internal to schema/.
//
// An arena is one memfd, sealed so that a reader can neither write to it nor truncate it. It has no name
// and disappears with the last process that has it open or mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "dataflow/values/buffer.h"
#include "schema/file_descriptor.h"

namespace actorflow {

// The writing side: allocates blocks, the lowest first, so that pages are reused. A block keeps the
// arena alive. Thread-safe.
class SharedArena final : public Allocator, public std::enable_shared_from_this<SharedArena> {
 public:
  // Null if the system does not provide memfd.
  static std::shared_ptr<SharedArena> create(std::size_t size_bytes);
  SharedArena(FileDescriptor file, std::byte* begin, std::size_t size_bytes);
  ~SharedArena() override;

  // A block of the arena, or of the heap if there is no room.
  BufferRef allocate(std::size_t size_bytes) override;
  // A block of the arena; empty if there is no room.
  BufferRef try_allocate(std::size_t size_bytes);
  // Whether a buffer is a block of this arena, or an aligned part of one: readers find it where it is.
  bool holds(const BufferRef& buffer) const;
  // Its offset. REQUIRES: holds(buffer).
  std::uint64_t place_of(const BufferRef& buffer) const;

  int file() const { return file_.get(); }
  std::size_t bytes_in_use() const;

 private:
  using Gaps = std::map<std::size_t, std::size_t>;  // their offsets and sizes

  struct Block;
  void release(Buffer* buffer) override;

  const FileDescriptor file_;
  std::byte* const begin_;
  const std::size_t size_bytes_;
  mutable std::mutex mutex_;
  Gaps free_;                                // guarded by mutex_
  std::size_t bytes_in_use_ = 0;             // guarded by mutex_
};

// The reading side: maps the whole arena of another process for the life of this object.
class SharedView {
 public:
  // Throws invalid_argument for a file that is no sealed memfd. The file may be closed afterwards.
  explicit SharedView(int file);
  SharedView(const SharedView&) = delete;
  SharedView& operator=(const SharedView&) = delete;
  ~SharedView();

  // The address of a place. Throws invalid_argument if it is not aligned or not inside.
  void* at(std::uint64_t place, std::size_t size_bytes) const;

 private:
  std::byte* begin_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace actorflow

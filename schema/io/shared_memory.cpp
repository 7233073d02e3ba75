#include "schema/io/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
// Blocks of whole pages: a reader that maps one sees nothing of another's life.
constexpr std::size_t page_bytes = 4096;

std::size_t whole_pages(std::size_t size_bytes) {
  return (std::max<std::size_t>(size_bytes, 1) + page_bytes - 1) / page_bytes * page_bytes;
}

std::byte* map(int file, std::size_t size_bytes, int protection) {
  void* mapped = mmap(nullptr, size_bytes, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

}  // namespace

struct SharedArena::Block final : Buffer {
  Block(std::size_t offset, std::size_t size_bytes, SharedArena& owner)
      : Buffer(owner.begin_ + offset, size_bytes, owner), arena(owner.shared_from_this()) {
    Gaps of_one{{offset, size_bytes}};
    gap = of_one.extract(offset);
  }
  std::shared_ptr<SharedArena> arena;
  Gaps::node_type gap;  // that it leaves: the memory for it is there when the block is given back
};

std::shared_ptr<SharedArena> SharedArena::create(std::size_t size_bytes) {
  const std::size_t size = whole_pages(size_bytes);
  FileDescriptor file(memfd_create("actorflow", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ftruncate(file.get(), static_cast<off_t>(size)) != 0) return nullptr;
  std::byte* begin = map(file.get(), size, PROT_READ | PROT_WRITE);
  if (!begin) return nullptr;
  auto arena = std::make_shared<SharedArena>(std::move(file), begin, size);
  // Our own mapping stays writable: it is older than the seal.
  return fcntl(arena->file(), F_ADD_SEALS, seals) == 0 ? arena : nullptr;
}

SharedArena::SharedArena(FileDescriptor file, std::byte* begin, std::size_t size_bytes)
    : file_(std::move(file)), begin_(begin), size_bytes_(size_bytes), free_{{0, size_bytes}} {}

SharedArena::~SharedArena() { munmap(begin_, size_bytes_); }

BufferRef SharedArena::allocate(std::size_t size_bytes) {
  if (auto block = try_allocate(size_bytes)) return block;
  return heap().allocate(size_bytes);
}

BufferRef SharedArena::try_allocate(std::size_t size_bytes) {
  if (size_bytes > size_bytes_) return {};
  const std::size_t size = whole_pages(size_bytes);
  const std::lock_guard lock(mutex_);
  for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
    const auto [offset, room] = *gap;
    if (room < size) continue;
    auto block = std::make_unique<Block>(offset, size, *this);
    if (room > size) free_.emplace(offset + size, room - size);
    free_.erase(gap);
    bytes_in_use_ += size;
    return BufferRef(block.release());
  }
  return {};
}

void SharedArena::release(Buffer* buffer) {
  const std::unique_ptr<Block> block(static_cast<Block*>(buffer));
  const std::lock_guard lock(mutex_);
  bytes_in_use_ -= block->size_bytes();
  const auto gap = free_.insert(std::move(block->gap)).position;
  if (const auto next = std::next(gap); next != free_.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    free_.erase(next);
  }
  if (gap == free_.begin()) return;
  const auto before = std::prev(gap);
  if (before->first + before->second != gap->first) return;
  before->second += gap->second;
  free_.erase(gap);
}

bool SharedArena::holds(const BufferRef& buffer) const {
  if (!buffer) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(buffer->data());
  const auto begin = reinterpret_cast<std::uintptr_t>(begin_);
  return at >= begin && at < begin + size_bytes_ && (at - begin) % buffer_alignment == 0;
}

std::uint64_t SharedArena::place_of(const BufferRef& buffer) const {
  ACTORFLOW_CHECK(holds(buffer));
  return static_cast<std::uint64_t>(static_cast<std::byte*>(buffer->data()) - begin_);
}

std::size_t SharedArena::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return bytes_in_use_;
}

SharedView::SharedView(int file) {
  // A file that could shrink, or that the writer could replace, would be a way to kill us.
  struct stat status {};
  const int present = fcntl(file, F_GET_SEALS);
  if (present < 0 || (present & seals) != seals || fstat(file, &status) != 0 || status.st_size <= 0)
    throw invalid_argument("the file for shared memory is not a sealed memfd");
  size_bytes_ = static_cast<std::size_t>(status.st_size);
  begin_ = map(file, size_bytes_, PROT_READ);
  if (!begin_)
    throw Error(Code::resource_exhausted, "cannot map " + std::to_string(size_bytes_) +
                                              " bytes of shared memory: " + std::strerror(errno));
}

SharedView::~SharedView() { munmap(begin_, size_bytes_); }

void* SharedView::at(std::uint64_t place, std::size_t size_bytes) const {
  if (place % buffer_alignment != 0 || place > size_bytes_ || size_bytes > size_bytes_ - place)
    throw invalid_argument("a tensor of " + std::to_string(size_bytes) + " bytes cannot be at " +
                           std::to_string(place) + " of " + std::to_string(size_bytes_) +
                           " bytes of shared memory");
  return begin_ + place;
}

}  // namespace actorflow

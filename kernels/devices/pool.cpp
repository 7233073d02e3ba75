#include "kernels/devices/pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;
constexpr std::align_val_t alignment{buffer_alignment};

// The classes are 1, 2, 3 and 4 units, then four per doubling: 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
// units.
constexpr std::size_t unit = buffer_alignment;

std::size_t class_of(std::size_t size_bytes) {
  const std::size_t units = size_bytes == 0 ? 1 : (size_bytes - 1) / unit + 1;
  if (units <= 4) return units - 1;
  const auto log = static_cast<std::size_t>(std::bit_width(units - 1));  // 2^(log-1) < units <= 2^log
  const std::size_t base = std::size_t{1} << (log - 1), step = base / 4;
  return 4 * (log - 2) + (units - base - 1) / step;
}

std::size_t size_of_class(std::size_t index) {
  if (index < 4) return (index + 1) * unit;
  const std::size_t base = std::size_t{1} << (index / 4 + 1);
  return (base + (index % 4 + 1) * (base / 4)) * unit;
}

std::size_t whole_huge_pages(std::size_t size_bytes) {
  return (size_bytes + huge_page - 1) / huge_page * huge_page;
}

// Maps more than is needed and cuts off both ends to get the alignment.
void* map_huge(std::size_t size_bytes) {
  const std::size_t size = whole_huge_pages(size_bytes);
  void* mapped =
      mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* first = static_cast<std::byte*>(mapped);
  const std::size_t before = (huge_page - std::bit_cast<std::uintptr_t>(mapped) % huge_page) % huge_page;
  if (before > 0) munmap(first, before);
  munmap(first + before + size, huge_page - before);
  madvise(first + before, size, MADV_HUGEPAGE);  // a wish: without it the pages are small
  return first + before;
}

class HostMemory final : public MemorySource {
 public:
  void* take(std::size_t size_bytes) override {
    return size_bytes < huge_page ? ::operator new(size_bytes, alignment, std::nothrow)
                                  : map_huge(size_bytes);
  }
  void give_back(void* data, std::size_t size_bytes) noexcept override {
    if (size_bytes < huge_page)
      ::operator delete(data, alignment);
    else
      munmap(data, whole_huge_pages(size_bytes));
  }
  MemorySpace space() const override { return MemorySpace::host; }
  std::string name() const override { return "CPU:0"; }
};

}  // namespace

MemorySource& host_memory() {
  static auto* memory = new HostMemory;  // never destroyed: pools may outlive any other static
  return *memory;
}

std::size_t default_max_cached_bytes() {
  const auto pages = std::max(sysconf(_SC_PHYS_PAGES), 0L),
             page_size = std::max(sysconf(_SC_PAGESIZE), 0L);
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_size) / 4;
}

struct Pool::Block final : Buffer {
  Block(void* data, std::size_t size_bytes, Allocator& owner, std::size_t index)
      : Buffer(data, size_bytes, owner), class_index(index) {}
  const std::size_t class_index;
  Block* next = nullptr;
};

Pool::Pool(MemorySource& source, std::size_t max_cached_bytes)
    : source_(source), max_cached_bytes_(max_cached_bytes) {}

Pool::~Pool() { trim(); }

BufferRef Pool::allocate(std::size_t size_bytes) {
  if (size_bytes > size_of_class(num_classes - 1))
    throw Error(Code::resource_exhausted, out_of_memory(size_bytes));
  const std::size_t index = class_of(size_bytes);
  if (Block* block = take_cached(classes_[index])) return BufferRef(block);
  return BufferRef(make_block(index, size_bytes));
}

Pool::Block* Pool::take_cached(SizeClass& size_class) {
  const std::lock_guard lock(size_class.mutex);
  ++size_class.allocations;
  size_class.last_used = clock_.load(std::memory_order_relaxed);
  Block* block = size_class.free;
  if (!block) return nullptr;
  size_class.free = block->next;
  --size_class.free_blocks;
  ++size_class.hits;
  cached_bytes_.fetch_sub(block->size_bytes(), std::memory_order_relaxed);
  return block;
}

Pool::Block* Pool::make_block(std::size_t index, std::size_t size_bytes) {
  const std::size_t class_bytes = size_of_class(index);
  void* data = take(class_bytes);
  if (!data) throw Error(Code::resource_exhausted, out_of_memory(size_bytes));
  Block* block = nullptr;
  try {
    block = new Block(data, class_bytes, *this, index);
  } catch (...) {
    source_.give_back(data, class_bytes);
    throw;
  }
  const std::lock_guard lock(classes_[index].mutex);
  ++classes_[index].blocks;
  classes_[index].last_used = clock_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

// What is larger than all memory would take from everybody in vain.
void* Pool::take(std::size_t class_bytes) {
  if (class_bytes > source_.total_bytes()) return nullptr;
  void* data = source_.take(class_bytes);
  if (!data) data = take_after_trim(class_bytes);
  while (!data && source_.reclaim()) data = take_after_trim(class_bytes);
  return data;
}

void* Pool::take_after_trim(std::size_t class_bytes) {
  trim();
  return source_.take(class_bytes);
}

void Pool::release(Buffer* buffer) {
  auto* block = static_cast<Block*>(buffer);
  const std::size_t size = block->size_bytes();
  if (size > max_cached_bytes_) return destroy(block);
  // Counted before others can take it, so that the count never falls below zero.
  const std::size_t cached = cached_bytes_.fetch_add(size, std::memory_order_relaxed) + size;
  {
    SizeClass& size_class = classes_[block->class_index];
    const std::lock_guard lock(size_class.mutex);
    block->next = size_class.free;
    size_class.free = block;
    ++size_class.free_blocks;
  }
  if (cached > max_cached_bytes_) give_back_excess();
}

// Threads that come here at once may each give back what is over.
void Pool::give_back_excess() noexcept {
  struct Use {
    std::uint64_t last;
    std::size_t index;
  };
  std::array<Use, num_classes> uses{};
  for (std::size_t index = 0; index < num_classes; ++index) {
    const std::lock_guard lock(classes_[index].mutex);
    uses[index] = {classes_[index].last_used, index};
  }
  std::ranges::sort(uses, {}, &Use::last);
  const std::size_t kept = max_cached_bytes_ - max_cached_bytes_ / 16;
  for (const Use& use : uses) {
    const std::size_t cached = cached_bytes_.load(std::memory_order_relaxed);
    if (cached <= kept) return;
    give_back(classes_[use.index], cached - kept);
  }
}

// Gives back free blocks of a class until these are `at_least_bytes`, or none is left.
void Pool::give_back(SizeClass& size_class, std::size_t at_least_bytes) noexcept {
  Block* taken = nullptr;
  {
    const std::lock_guard lock(size_class.mutex);
    std::size_t bytes = 0;
    while (bytes < at_least_bytes && size_class.free) {
      Block* block = size_class.free;
      size_class.free = std::exchange(block->next, taken);
      taken = block;
      --size_class.free_blocks;
      bytes += block->size_bytes();
    }
    cached_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  while (taken) destroy(std::exchange(taken, taken->next));
}

void Pool::destroy(Block* block) noexcept {
  SizeClass& size_class = classes_[block->class_index];
  source_.give_back(block->data(), block->size_bytes());
  delete block;
  const std::lock_guard lock(size_class.mutex);
  --size_class.blocks;
}

void Pool::trim() noexcept {
  for (auto& size_class : classes_) give_back(size_class, std::numeric_limits<std::size_t>::max());
}

PoolStatistics Pool::statistics() const {
  PoolStatistics total;
  for (std::size_t index = 0; index < num_classes; ++index) {
    const SizeClass& size_class = classes_[index];
    const std::lock_guard lock(size_class.mutex);
    const std::size_t in_use = size_class.blocks - size_class.free_blocks;
    total.bytes_in_use += in_use * size_of_class(index);
    total.bytes_cached += size_class.free_blocks * size_of_class(index);
    total.buffers_in_use += in_use;
    total.allocations += size_class.allocations;
    total.hits += size_class.hits;
  }
  return total;
}

// Names the sizes that hold the most, so that the reader sees what to make smaller.
std::string Pool::out_of_memory(std::size_t size_bytes) const {
  struct Holding {
    std::size_t bytes, count, each;
  };
  std::vector<Holding> holdings;
  for (std::size_t index = 0; index < num_classes; ++index) {
    const std::lock_guard lock(classes_[index].mutex);
    const std::size_t count = classes_[index].blocks - classes_[index].free_blocks;
    if (count > 0) holdings.push_back({count * size_of_class(index), count, size_of_class(index)});
  }
  std::ranges::sort(holdings, std::greater<>(), &Holding::bytes);
  std::string text = "out of memory on " + source_.name() + ": could not allocate " +
                     std::to_string(size_bytes) + " bytes; tensors in use hold " +
                     std::to_string(statistics().bytes_in_use) + " bytes";
  const std::size_t shown = std::min<std::size_t>(holdings.size(), 3);
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? ", most of them in " : " and ") + std::to_string(holdings[i].count) +
            " buffers of " + std::to_string(holdings[i].each) + " bytes";
  return text + "; use a smaller batch or more tasks";
}

}  // namespace actorflow

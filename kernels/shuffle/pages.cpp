#include "kernels/shuffle/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Error no_memory(const char* what, std::size_t bytes) {
  return Error(Code::resource_exhausted,
               std::string("out of ") + what + ": could not take " + std::to_string(bytes) + " bytes");
}

std::size_t whole_steps(std::size_t bytes, std::size_t step) {
  return std::max(step, (bytes + step - 1) / step * step);
}

// Maps a step more than is needed and cuts off both ends to get the alignment of huge pages.
std::byte* reserve(std::size_t bytes, std::size_t step) {
  void* mapped =
      mmap(nullptr, bytes + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw no_memory("address space", bytes);
  auto* first = static_cast<std::byte*>(mapped);
  const std::size_t before = (step - std::bit_cast<std::uintptr_t>(mapped) % step) % step;
  if (before > 0) munmap(first, before);
  munmap(first + before + bytes, step - before);
  return first + before;
}

}  // namespace

void Pages::Unmap::operator()(std::byte* memory) const noexcept { munmap(memory, bytes); }

Pages::Pages(std::size_t reserved_bytes, std::size_t step) : step_(step) {
  const std::size_t bytes = whole_steps(reserved_bytes, step);
  memory_ = {reserve(bytes, step), {bytes}};
  if (step >= huge_step)
    madvise(data(), bytes, MADV_HUGEPAGE);  // a wish: without it the pages are small
}

Pages Pages::of(std::size_t bytes) {
  Pages pages(bytes, bytes < huge_step ? small_step : huge_step);
  pages.grow_by(pages.reserved_bytes());
  return pages;
}

void Pages::grow_by(std::size_t bytes) {
  ACTORFLOW_CHECK(bytes <= reserved_bytes() - usable_bytes_, "another", bytes, "of", reserved_bytes());
  if (mprotect(data() + usable_bytes_, bytes, PROT_READ | PROT_WRITE) != 0)
    throw no_memory("memory", bytes);
  usable_bytes_ += bytes;
}

void Pages::shrink_to(std::size_t bytes) {
  if (bytes >= usable_bytes_) return;
  const std::size_t given_back = usable_bytes_ - bytes;
  madvise(data() + bytes, given_back, MADV_DONTNEED);
  mprotect(data() + bytes, given_back, PROT_NONE);
  usable_bytes_ = bytes;
}

}  // namespace actorflow

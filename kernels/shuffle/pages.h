// Memory that grows in place and goes back to the system at its end.
#pragma once

#include <cstddef>
#include <memory>

namespace actorflow {

// Address space that is reserved at once and becomes usable from its front, so that what lies in it
// never moves. New bytes are zero. Only usable bytes cost memory. REQUIRES of all calls: one thread at a
// time.
class Pages {
 public:
  // A multiple of the system's pages. From huge_step on memory comes in huge pages, where there are
  // some.
  static constexpr std::size_t small_step = std::size_t{64} << 10U, huge_step = std::size_t{2} << 20U;

  Pages() = default;
  // At least `reserved_bytes`; both are rounded up to multiples of `step`, small_step or huge_step.
  // Throws resource_exhausted, naming the size, if there is no address space.
  Pages(std::size_t reserved_bytes, std::size_t step);
  // As much as that, usable at once.
  static Pages of(std::size_t bytes);

  std::byte* data() const { return memory_.get(); }
  std::size_t usable_bytes() const { return usable_bytes_; }
  std::size_t reserved_bytes() const { return memory_.get_deleter().bytes; }
  std::size_t step() const { return step_; }
  // Makes another step of bytes usable. Throws resource_exhausted if there is no memory, and changes
  // nothing then. REQUIRES: usable_bytes() < reserved_bytes().
  void grow() { grow_by(step_); }
  // Gives usable bytes back to the system, all but the first `bytes`, a multiple of step().
  void shrink_to(std::size_t bytes);

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const noexcept;
  };
  void grow_by(std::size_t bytes);

  std::unique_ptr<std::byte, Unmap> memory_;
  std::size_t usable_bytes_ = 0;
  std::size_t step_ = small_step;
};

}  // namespace actorflow

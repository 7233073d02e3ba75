// Bytes that stay where they are until all of them are dropped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/shuffle/pages.h"

namespace actorflow {

// Chunks of `step` bytes (Pages::small_step or huge_step), and larger ones for what fits into none.
// REQUIRES of all calls: one thread at a time.
class ByteArena {
 public:
  explicit ByteArena(std::size_t step) : step_(step) {}

  // A copy, at any alignment. Throws resource_exhausted.
  std::span<const std::byte> add(std::span<const std::byte> bytes);
  // Drops all bytes, but keeps the memory, except for chunks of more than a step.
  void clear();
  // Gives back what clear() has kept and nobody has used since.
  void shrink() { chunks_.resize(used_chunks_); }

  std::size_t memory_bytes() const { return chunks_.size() * step_ + large_bytes_; }
  // The same without what clear() has kept.
  std::size_t used_bytes() const { return used_chunks_ * step_ + large_bytes_; }
  // What another `bytes` would add to used_bytes(), at least.
  std::size_t growth_for(std::size_t bytes) const { return fits(bytes) ? 0 : std::max(step_, bytes); }
  bool needs_memory_for(std::size_t bytes) const {
    return !fits(bytes) && (bytes > step_ || used_chunks_ == chunks_.size());
  }

 private:
  bool fits(std::size_t bytes) const { return bytes <= static_cast<std::size_t>(end_ - next_); }
  void next_chunk();

  const std::size_t step_;
  std::vector<Pages> chunks_, large_;
  std::size_t used_chunks_ = 0;
  std::byte *next_ = nullptr, *end_ = nullptr;
  std::size_t large_bytes_ = 0;
};

}  // namespace actorflow

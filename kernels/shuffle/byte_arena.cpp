#include "kernels/shuffle/byte_arena.h"

#include <cstring>

namespace actorflow {

std::span<const std::byte> ByteArena::add(std::span<const std::byte> bytes) {
  std::byte* copy = nullptr;
  if (bytes.size() > step_) {
    large_.push_back(Pages::of(bytes.size()));
    large_bytes_ += large_.back().usable_bytes();
    copy = large_.back().data();
  } else {
    if (!fits(bytes.size())) next_chunk();
    copy = next_;
    next_ += bytes.size();
  }
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return {copy, bytes.size()};
}

void ByteArena::next_chunk() {
  if (used_chunks_ == chunks_.size()) chunks_.push_back(Pages::of(step_));
  next_ = chunks_[used_chunks_++].data();
  end_ = next_ + step_;
}

void ByteArena::clear() {
  large_.clear();
  large_bytes_ = 0;
  used_chunks_ = 0;
  next_ = end_ = nullptr;
}

}  // namespace actorflow

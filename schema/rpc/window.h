// How many bytes of payloads a sender may have alive at the other end. Internal to schema/: includes kj.
#pragma once

#include <kj/time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace actorflow {

// While a message waits for room at the receiver: how often it is looked after, and reported.
inline constexpr std::int64_t look_interval_ms = 1'000;
inline constexpr kj::Duration report_interval = 5 * kj::SECONDS;

// Grows when the receiver needs more at a time, and shrinks again when it does not: a window that has
// not been half full for `idle` is halved, down to its first size.
class Window {
 public:
  Window() = default;
  Window(std::size_t first_bytes, std::size_t most_bytes, kj::Duration idle, kj::TimePoint now)
      : first_bytes_(std::min(first_bytes, most_bytes)),
        most_bytes_(most_bytes),
        idle_(idle),
        bytes_(first_bytes_),
        needed_(now) {}

  std::size_t bytes() const { return bytes_; }
  std::size_t most_bytes() const { return most_bytes_; }
  // A message goes alone if it is larger than the window.
  bool fits(std::size_t held_bytes, std::size_t more_bytes) const {
    return held_bytes == 0 || (held_bytes <= bytes_ && more_bytes <= bytes_ - held_bytes);
  }
  bool may_grow() const { return bytes_ < most_bytes_; }
  void grow(kj::TimePoint now) {
    bytes_ = bytes_ > most_bytes_ / 2 ? most_bytes_ : 2 * bytes_;
    needed_ = now;
  }
  // Call when what the receiver holds has become more, and before it becomes less.
  void held(std::size_t held_bytes, kj::TimePoint now) {
    if (held_bytes > bytes_ / 2) needed_ = now;
  }
  // Call before a message is sent.
  void shrink(std::size_t held_bytes, kj::TimePoint now) {
    held(held_bytes, now);
    for (; bytes_ > first_bytes_ && now - needed_ >= idle_; needed_ += idle_)
      bytes_ = std::max(bytes_ / 2, first_bytes_);
  }

 private:
  std::size_t first_bytes_ = 0, most_bytes_ = 0;
  kj::Duration idle_ = 0 * kj::NANOSECONDS;
  std::size_t bytes_ = 0;
  kj::TimePoint needed_ = kj::origin<kj::TimePoint>();  // when it was last half full
};

}  // namespace actorflow

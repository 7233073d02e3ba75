// Copying past the cache: the memory that is written is not read first, and what the cache holds stays
// there. For results so large that the cache would not keep them until they are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace actorflow {

// From this size on a result is written faster so, even if it is read right afterwards (bench/RESULTS.md,
// All-reduce among processes).
inline constexpr std::size_t least_streamed_bytes = std::size_t{8} << 20;

// Other threads see what was copied only after finish_streaming().
inline void streaming_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::size_t at = 0;
#ifdef __SSE2__
  at = std::min(bytes, -reinterpret_cast<std::uintptr_t>(to) % sizeof(__m128i));
  std::memcpy(to, from, at);
  for (; at + sizeof(__m128i) <= bytes; at += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
#endif
  std::memcpy(to + at, from + at, bytes - at);
}

inline void finish_streaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace actorflow

#include "actors/estimator/columns/fingerprint.h"

#include <bit>
#include <cstddef>
#include <utility>

namespace actorflow {
namespace {

constexpr std::uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

using Pair = std::pair<std::uint64_t, std::uint64_t>;

// Little-endian, whatever the machine is.
template <int bytes>
std::uint64_t fetch(const char* at) {
  std::uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) value = (value << 8) | static_cast<unsigned char>(at[i]);
  return value;
}
std::uint64_t word(const char* at) { return fetch<8>(at); }

std::uint64_t rotate(std::uint64_t value, int bits) { return std::rotr(value, bits); }
std::uint64_t shift_mix(std::uint64_t value) { return value ^ (value >> 47); }

std::uint64_t mix(std::uint64_t u, std::uint64_t v, std::uint64_t factor) {
  const std::uint64_t a = shift_mix((u ^ v) * factor);
  return shift_mix((v ^ a) * factor) * factor;
}

std::uint64_t hash_up_to_16(const char* s, std::uint64_t size) {
  const std::uint64_t factor = k2 + size * 2;
  if (size >= 8) {
    const std::uint64_t a = word(s) + k2, b = word(s + size - 8);
    return mix(rotate(b, 37) * factor + a, (rotate(a, 25) + b) * factor, factor);
  }
  if (size >= 4) return mix(size + (fetch<4>(s) << 3), fetch<4>(s + size - 4), factor);
  if (size == 0) return k2;
  const std::uint64_t y = fetch<1>(s) + (fetch<1>(s + (size >> 1)) << 8);
  const std::uint64_t z = size + (fetch<1>(s + size - 1) << 2);
  return shift_mix((y * k2) ^ (z * k0)) * k2;
}

std::uint64_t hash_17_to_32(const char* s, std::uint64_t size) {
  const std::uint64_t factor = k2 + size * 2;
  const std::uint64_t a = word(s) * k1, b = word(s + 8);
  const std::uint64_t c = word(s + size - 8) * factor, d = word(s + size - 16) * k2;
  return mix(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + k2, 18) + c, factor);
}

std::uint64_t hash_33_to_64(const char* s, std::uint64_t size) {
  const std::uint64_t factor = k2 + size * 2;
  const std::uint64_t a = word(s) * k2, b = word(s + 8);
  const std::uint64_t c = word(s + size - 8) * factor, d = word(s + size - 16) * k2;
  const std::uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d;
  const std::uint64_t z = mix(y, a + rotate(b + k2, 18) + c, factor);
  const std::uint64_t e = word(s + 16) * factor, f = word(s + 24);
  const std::uint64_t g = (y + word(s + size - 32)) * factor, h = (z + word(s + size - 24)) * factor;
  return mix(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, factor);
}

// 32 bytes and two seeds.
Pair weak_hash(const char* s, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t w = word(s), x = word(s + 8), y = word(s + 16), z = word(s + 24);
  a += w;
  b = rotate(b + a + z, 21);
  const std::uint64_t c = a;
  a += x + y;
  b += rotate(a, 44);
  return {a + z, b + c};
}

// The state of the hash of long texts; each turn takes 64 bytes.
struct LongHash {
  std::uint64_t x = 81 * k2, y = 81 * k1 + 113, z = shift_mix(y * k2 + 113) * k2;
  Pair v{0, 0}, w{0, 0};

  // The last turn counts some of its state `times` times.
  void turn(const char* s, std::uint64_t factor, std::uint64_t times) {
    x = rotate(x + y + v.first + word(s + 8), 37) * factor;
    y = rotate(y + v.second + word(s + 48), 42) * factor;
    x ^= w.second * times;
    y += v.first * times + word(s + 40);
    z = rotate(z + w.first, 33) * factor;
    v = weak_hash(s, v.second * factor, x + w.first);
    w = weak_hash(s + 32, z + w.second, y + word(s + 16));
    std::swap(z, x);
  }
};

std::uint64_t hash_above_64(const char* s, std::uint64_t size) {
  LongHash state;
  state.x += word(s);
  const char* last = s + size - 64;
  for (const char* end = s + (size - 1) / 64 * 64; s != end; s += 64) state.turn(s, k1, 1);
  const std::uint64_t factor = k1 + ((state.z & 0xff) << 1);
  state.w.first += (size - 1) & 63;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.turn(last, factor, 9);
  const auto& [x, y, z, v, w] = state;
  return mix(mix(v.first, w.first, factor) + shift_mix(y) * k0 + z, mix(v.second, w.second, factor) + x,
             factor);
}

}  // namespace

std::uint64_t fingerprint64(std::string_view text) {
  const std::uint64_t size = text.size();
  if (size <= 16) return hash_up_to_16(text.data(), size);
  if (size <= 32) return hash_17_to_32(text.data(), size);
  if (size <= 64) return hash_33_to_64(text.data(), size);
  return hash_above_64(text.data(), size);
}

std::uint64_t joined_fingerprint(std::uint64_t first, std::uint64_t second) {
  constexpr std::uint64_t factor = 0xc6a4a7935bd1e995;
  const std::uint64_t mixed = (first ^ factor ^ (shift_mix(second * factor) * factor)) * factor;
  return shift_mix(shift_mix(mixed) * factor);
}

}  // namespace actorflow

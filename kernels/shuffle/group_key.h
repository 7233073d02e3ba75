// Keys as a GroupTable keeps them.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "dataflow/values/check.h"

namespace actorflow {

static_assert(std::endian::native == std::endian::little, "keys are compared as they lie in memory");

// Up to 16 bytes, held here, or a view of more. Two are equal where their bytes are.
class GroupKey {
 public:
  static constexpr std::size_t max_held_bytes = 16;

  // REQUIRES: a key of more than 16 bytes outlives this one; less than 4 GiB.
  explicit GroupKey(std::span<const std::byte> key) : size_(static_cast<std::uint32_t>(key.size())) {
    if (key.size() <= max_held_bytes) {
      hold(key.data(), key.size());
    } else {
      ACTORFLOW_CHECK(key.size() == size_, "a key of", key.size(), "bytes");
      words_ = {std::bit_cast<std::uintptr_t>(key.data()), 0};
    }
  }

  bool held() const { return size_ <= max_held_bytes; }
  // Valid as long as this key and what it views.
  std::span<const std::byte> bytes() const {
    if (held()) return {reinterpret_cast<const std::byte*>(words_.data()), size_};
    return {std::bit_cast<const std::byte*>(static_cast<std::uintptr_t>(words_[0])), size_};
  }

  bool operator==(const GroupKey& other) const {
    if (size_ != other.size_) return false;
    if (held()) return ((words_[0] ^ other.words_[0]) | (words_[1] ^ other.words_[1])) == 0;
    return std::memcmp(bytes().data(), other.bytes().data(), size_) == 0;
  }
  // By bytes, as unsigned numbers; a key that another begins with comes before it.
  std::strong_ordering operator<=>(const GroupKey& other) const {
    const auto a = bytes(), b = other.bytes();
    const int order = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
    return order != 0 ? order <=> 0 : a.size() <=> b.size();
  }

 private:
  template <class Word>
  static std::uint64_t load(const std::byte* from) {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    return word;
  }

  // Zero after the key's end. A copy of constant sizes, which overlap, takes half the time of one of
  // `size`.
  void hold(const std::byte* key, std::size_t size) {
    if (size > 8)
      words_ = {load<std::uint64_t>(key), load<std::uint64_t>(key + size - 8) >> (8 * (16 - size))};
    else if (size == 8)
      words_ = {load<std::uint64_t>(key), 0};
    else if (size >= 4)
      words_ = {load<std::uint32_t>(key) | load<std::uint32_t>(key + size - 4) << (8 * (size - 4)), 0};
    else if (size > 0)
      words_ = {load<std::uint8_t>(key) | load<std::uint8_t>(key + size / 2) << (8 * (size / 2)) |
                    load<std::uint8_t>(key + size - 1) << (8 * (size - 1)),
                0};
    else
      words_ = {0, 0};
  }

  std::array<std::uint64_t, 2> words_;
  std::uint32_t size_;
};

}  // namespace actorflow

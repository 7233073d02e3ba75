// The beginning of a key as an integer, so that sorts compare most keys without looking at them.
#pragma once

#include <bit>
#include <cstring>

#include "schema/records/record.h"

namespace actorflow {
namespace detail {

// Keeps the first 64 bits that are put into it. Missing bits are 0, so that a key that ends early never
// comes after one that goes on.
class PrefixBits {
 public:
  bool full() const { return room_ == 0; }
  std::uint64_t value() const { return value_; }

  // The lower `count` bits of `bits`; the others are 0.
  void put(std::uint64_t bits, int count) {
    if (count <= room_) {
      room_ -= count;
      value_ |= bits << room_;
    } else {
      value_ |= bits >> (count - room_);
      room_ = 0;
    }
  }
  void close() { room_ = 0; }

 private:
  std::uint64_t value_ = 0;
  int room_ = 64;
};

template <class T>
using UnsignedOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// An unsigned number in the same order: NaN is last, -0.0 is 0.0.
template <class T>
UnsignedOf<T> ordered(T value) {
  using Bits = UnsignedOf<T>;
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (value != value) return static_cast<Bits>(~Bits{0});
    const Bits bits = std::bit_cast<Bits>(value + T(0));
    return bits & sign ? ~bits : bits | sign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Bits>(static_cast<Bits>(value) ^ sign);
  } else {
    return static_cast<Bits>(value);
  }
}

inline std::uint64_t big_endian_beginning(const void* bytes, std::size_t size) {
  std::uint64_t value = 0;
  if (size > 0) std::memcpy(&value, bytes, size < 8 ? size : 8);
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap64(value);
}

// Whether a struct brings its own operator<, which may compare anything.
template <class T>
concept Ordered = std::is_aggregate_v<T> && std::is_class_v<T> && requires(const T& a) {
  a < a;
};

// The number of bits that represent the whole of a T; unknown_bits if some values need more.
constexpr std::size_t unknown_bits = 1000;

template <class T>
consteval std::size_t prefix_bits() {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::number) {
    return std::is_same_v<Number<T>, bool> ? 1 : 8 * sizeof(T);
  } else if constexpr (kind == RecordKind::array) {
    return std::tuple_size_v<T> > 64 ? unknown_bits
                                     : std::tuple_size_v<T> * prefix_bits<typename T::value_type>();
  } else if constexpr (kind == RecordKind::optional) {
    return 1 + prefix_bits<typename T::value_type>();
  } else if constexpr (kind == RecordKind::fields && !Ordered<T>) {
    return []<class... F>(Types<F...>) { return (prefix_bits<F>() + ...); }(FieldTypes<T>());
  } else {
    return unknown_bits;
  }
}

template <class K>
void put_prefix(const K& key, PrefixBits& prefix) {
  constexpr RecordKind kind = record_kind<K>();
  if (prefix.full()) return;
  if constexpr (kind == RecordKind::number) {
    prefix.put(ordered(static_cast<Number<K>>(key)), static_cast<int>(prefix_bits<K>()));
  } else if constexpr (kind == RecordKind::text) {
    prefix.put(big_endian_beginning(key.data(), key.size()), 64);
  } else if constexpr (kind == RecordKind::array) {
    if constexpr (std::is_same_v<typename K::value_type, std::uint8_t> && std::tuple_size_v<K> >= 8)
      prefix.put(big_endian_beginning(key.data(), 8), 64);
    else
      for (const auto& element : key) put_prefix(element, prefix);
  } else if constexpr (kind == RecordKind::optional) {
    prefix.put(key.has_value(), 1);
    if (key)
      put_prefix(*key, prefix);
    else if constexpr (prefix_bits<K>() <= 64)
      prefix.put(0, static_cast<int>(prefix_bits<K>()) - 1);
    else
      prefix.close();
  } else if constexpr (kind == RecordKind::vector) {
    for (const typename K::value_type& element : key) {
      if (prefix.full()) break;
      put_prefix(element, prefix);
    }
    prefix.close();
  } else if constexpr (Ordered<K> || kind == RecordKind::own) {
    prefix.close();
  } else {
    visit_fields(key, [&prefix](const auto&... field) { (put_prefix(field, prefix), ...); });
  }
}

}  // namespace detail

// 64 bits whose unsigned order never contradicts a < b: if it holds, order_prefix(a) <= order_prefix(b).
// Texts and uint8 arrays by their first bytes, numbers by their value, pairs, tuples, arrays, vectors
// and optionals by their first parts, as many as fit; structs without an operator< too. Of a struct that
// has one it is 0, as that may order them by anything. NaN, which < does not order, comes last.
template <Record K>
std::uint64_t order_prefix(const K& key) {
  static_assert(require_key<K>());
  detail::PrefixBits prefix;
  detail::put_prefix(key, prefix);
  return prefix.value();
}

// True if equal prefixes mean equal keys.
template <class K>
constexpr bool order_prefix_is_whole = false;
template <Record K>
constexpr bool order_prefix_is_whole<K> = detail::prefix_bits<K>() <= 64;

}  // namespace actorflow

// Keys: records that are compared, hashed and sorted as bytes.
//
// Two keys have the same bytes exactly if they are equal: 0.0 and -0.0 are one key, and so are all NaNs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "schema/records/order_prefix.h"
#include "schema/records/record_codec.h"

namespace actorflow {

// XXH3, 64 bits; the same on all machines.
std::uint64_t hash_bytes(std::span<const std::byte> bytes);

namespace detail {

template <class T>
consteval bool has_float() {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::number)
    return std::is_floating_point_v<T>;
  else if constexpr (kind == RecordKind::text || kind == RecordKind::own)
    return false;
  else if constexpr (kind == RecordKind::fields)
    return []<class... F>(Types<F...>) { return (has_float<F>() || ...); }(FieldTypes<T>());
  else
    return has_float<typename T::value_type>();
}

// Gives all zeros one sign, and all NaNs the same bits.
template <class T>
void make_canonical(T& record) {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (!has_float<T>()) {
    return;
  } else if constexpr (kind == RecordKind::number) {
    record = std::isnan(record) ? std::numeric_limits<T>::quiet_NaN() : record + T(0);
  } else if constexpr (kind == RecordKind::fields) {
    visit_fields(record, [](auto&... field) { (make_canonical(field), ...); });
  } else if constexpr (kind == RecordKind::optional) {
    if (record) make_canonical(*record);
  } else {
    for (auto& element : record) make_canonical(element);
  }
}

template <class K>
std::span<const std::byte> encoded_key(const K& key, std::vector<std::byte>& scratch) {
  scratch.resize(encoded_size(key));
  encode(key, scratch.data());
  return scratch;
}

[[noreturn, gnu::cold]] void throw_bad_key(std::size_t bytes, const std::string& layout);

}  // namespace detail

// The key's bytes: of a text its characters, of a flat record without floats the object itself, else its
// encoding, in `scratch`. Valid while the key lives and until the next call with this scratch.
template <Record K>
std::span<const std::byte> key_bytes(const K& key, std::vector<std::byte>& scratch) {
  static_assert(require_key<K>());
  if constexpr (detail::record_kind<K>() == detail::RecordKind::text) {
    return std::as_bytes(std::span(key.data(), key.size()));
  } else if constexpr (is_flat_record<K> && !detail::has_float<K>()) {
    return std::as_bytes(std::span(&key, 1));
  } else if constexpr (detail::has_float<K>()) {
    K canonical = key;
    detail::make_canonical(canonical);
    return detail::encoded_key(canonical, scratch);
  } else {
    return detail::encoded_key(key, scratch);
  }
}

// The inverse: the key of these bytes. A std::string_view in it points into the bytes. Throws data_loss
// if key_bytes() cannot have made them.
template <Record K>
K key_from_bytes(std::span<const std::byte> bytes) {
  static_assert(require_key<K>());
  if constexpr (detail::record_kind<K>() == detail::RecordKind::text) {
    return K(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else {
    RecordReader reader(bytes);
    K key = decode<K>(reader);
    if (!reader.empty()) detail::throw_bad_key(bytes.size(), record_layout<K>());
    return key;
  }
}

}  // namespace actorflow

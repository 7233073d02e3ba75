// Keys: records that are compared, hashed and sorted as bytes.
//
// Two keys have the same bytes exactly if they are equal: 0.0 and -0.0 are one key, and so are all NaNs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Passes over the encoding of a T, without making one.
template <class T>
void skip_record(RecordReader& from);
template <class... F>
void skip_fields(RecordReader& from, Types<F...>) {
  (skip_record<F>(from), ...);
}
template <class Element>
void skip_elements(RecordReader& from, std::size_t size) {
  if (size > from.bytes_left() / encoded_size_range<Element>.least)
    throw_cut_record(from, size, "elements");
  if constexpr (fixed_encoded_size<Element> != 0)
    take(from, size * fixed_encoded_size<Element>, "bytes of elements");
  else
    for (std::size_t i = 0; i < size; ++i) skip_record<Element>(from);
}
template <class T>
void skip_record(RecordReader& from) {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (fixed_encoded_size<T> != 0)
    take(from, fixed_encoded_size<T>, "bytes of a key");
  else if constexpr (kind == RecordKind::text)
    take(from, decode_size(from), "bytes of text");
  else if constexpr (kind == RecordKind::fields)
    skip_fields(from, FieldTypes<T>());
  else if constexpr (kind == RecordKind::array)
    skip_elements<typename T::value_type>(from, std::tuple_size_v<T>);
  else if constexpr (kind == RecordKind::vector)
    skip_elements<typename T::value_type>(from, decode_size(from));
  else if (decode_bool<bool>(from))  // an optional
    skip_record<typename T::value_type>(from);
}

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

// Of a key with these bytes (key_bytes()) its encoding: to keep keys as bytes, where to make each would
// take a copy or an allocation.
template <Record K>
std::size_t encoded_size_of_key(std::span<const std::byte> bytes) {
  const bool is_text = detail::record_kind<K>() == detail::RecordKind::text;
  return bytes.size() + (is_text ? detail::size_bytes(bytes.size()) : 0);
}
// Writes so many bytes; returns where they end.
template <Record K>
std::byte* encode_key(std::span<const std::byte> bytes, std::byte* to) {
  if constexpr (detail::record_kind<K>() == detail::RecordKind::text)
    to = detail::encode_size(bytes.size(), to);
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}
// The bytes of a key that encode_key() has written, which the reader passes over. Throws data_loss if it
// has not written them.
template <Record K>
std::span<const std::byte> take_key(RecordReader& from) {
  static_assert(require_key<K>());
  if constexpr (detail::record_kind<K>() == detail::RecordKind::text) {
    const std::size_t size = detail::decode_size(from);
    return {detail::take(from, size, "bytes of text"), size};
  } else {
    const std::byte* begin = from.at;
    detail::skip_record<K>(from);
    return {begin, from.at};
  }
}

}  // namespace actorflow

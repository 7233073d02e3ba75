// Records as bytes:
//
//   record   := number | text | array | optional | vector | fields | tensor | message
//   number   := little-endian, as many bytes as the type has; bool: 0 or 1
//   text     := size byte{size}
//   array    := record{its size}
//   optional := 0 | 1 record
//   vector   := size record{size}
//   fields   := record{one for each}
//   tensor   := 0 | dtype rank size{rank} element{as many as these say}    dtype and rank: a byte each
//   element  := number | text
//   message  := 0:uint32 words:uint32 byte{8 x words}    of Cap'n Proto, in canonical form
//   size     := unsigned LEB128 in as few bytes as possible
//
// Records lie back to back, without anything between them. A value has one encoding, but equal values
// may have two: 0.0 and -0.0 keep their signs (see key.h).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

#include "schema/records/record.h"

namespace actorflow {

static_assert(std::endian::native == std::endian::little, "flat records are copied as they are");

// Bytes that decode() reads, and the place that it has reached.
struct RecordReader {
  explicit RecordReader(std::span<const std::byte> bytes)
      : RecordReader(bytes.data(), bytes.data() + bytes.size()) {}
  RecordReader(const std::byte* first, const std::byte* last) : at(first), end(last), begin(first) {}

  bool empty() const { return at == end; }
  std::size_t bytes_left() const { return static_cast<std::size_t>(end - at); }

  const std::byte* at;
  const std::byte* end;
  const std::byte* begin;  // for the offsets in errors
};

namespace detail {

// Throws data_loss: "at byte 7 of records: expected 8 bytes of a number, but 3 bytes are left".
[[noreturn, gnu::cold]] void throw_cut_record(const RecordReader& from, std::size_t count,
                                              const char* what);
// Throws data_loss: "at byte 7 of records: expected 0 or 1 as a bool".
[[noreturn, gnu::cold]] void throw_bad_record(const RecordReader& from, const char* expected);
std::size_t decode_long_size(RecordReader& from);

constexpr std::size_t size_bytes(std::size_t size) {
  return (static_cast<std::size_t>(std::bit_width(size | 1)) + 6) / 7;
}

inline std::byte* encode_size(std::size_t size, std::byte* to) {
  for (; size >= 0x80; size >>= 7) *to++ = static_cast<std::byte>(size | 0x80);
  *to++ = static_cast<std::byte>(size);
  return to;
}

inline std::size_t decode_size(RecordReader& from) {
  if (from.at != from.end && *from.at < std::byte{0x80}) return static_cast<std::size_t>(*from.at++);
  return decode_long_size(from);
}

// Where the next bytes are, after passing over them.
inline const std::byte* take(RecordReader& from, std::size_t bytes, const char* what) {
  if (from.bytes_left() < bytes) throw_cut_record(from, bytes, what);
  return std::exchange(from.at, from.at + bytes);
}

// The size of the smallest encoding of T; of all encodings if `fixed`.
struct EncodedSize {
  std::size_t least = 0;
  bool fixed = true;
};

template <class T>
consteval EncodedSize encoded_size_of() {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::number || is_short_float<T>) {
    return {sizeof(T)};
  } else if constexpr (kind == RecordKind::array) {
    constexpr EncodedSize element = encoded_size_of<typename T::value_type>();
    return {element.least * std::tuple_size_v<T>, element.fixed};
  } else if constexpr (kind == RecordKind::fields) {
    return []<class... F>(Types<F...>) {
      return EncodedSize{(encoded_size_of<F>().least + ...), (encoded_size_of<F>().fixed && ...)};
    }(FieldTypes<T>());
  } else if constexpr (kind == RecordKind::own) {
    return {OwnCodec<T>::least_bytes, false};
  } else {
    return {1, false};
  }
}

template <class T>
constexpr EncodedSize encoded_size_range = encoded_size_of<T>();

}  // namespace detail

// Bytes of every encoding of T, 0 if they differ.
template <Record T>
constexpr std::size_t fixed_encoded_size =
    detail::encoded_size_range<T>.fixed ? detail::encoded_size_range<T>.least : 0;

template <Record T>
std::size_t encoded_size(const T& record) {
  using detail::RecordKind;
  constexpr RecordKind kind = detail::record_kind<T>();
  if constexpr (fixed_encoded_size<T> != 0) {
    return fixed_encoded_size<T>;
  } else if constexpr (kind == RecordKind::text) {
    return detail::size_bytes(record.size()) + record.size();
  } else if constexpr (kind == RecordKind::own) {
    return detail::OwnCodec<T>::encoded_size(record);
  } else if constexpr (kind == RecordKind::optional) {
    return 1 + (record ? encoded_size(*record) : 0);
  } else if constexpr (kind == RecordKind::fields) {
    return detail::visit_fields(record,
                                [](const auto&... field) { return (encoded_size(field) + ...); });
  } else {
    std::size_t bytes = kind == RecordKind::vector ? detail::size_bytes(record.size()) : 0;
    if constexpr (fixed_encoded_size<typename T::value_type> != 0)
      return bytes + record.size() * fixed_encoded_size<typename T::value_type>;
    else
      for (const auto& element : record) bytes += encoded_size(element);
    return bytes;
  }
}

// Writes encoded_size(record) bytes; returns where they end.
template <Record T>
std::byte* encode(const T& record, std::byte* to) {
  using detail::RecordKind;
  constexpr RecordKind kind = detail::record_kind<T>();
  if constexpr (is_flat_record<T> || kind == RecordKind::number) {
    std::memcpy(to, &record, sizeof record);
    return to + sizeof record;
  } else if constexpr (kind == RecordKind::text) {
    to = detail::encode_size(record.size(), to);
    if (!record.empty()) std::memcpy(to, record.data(), record.size());
    return to + record.size();
  } else if constexpr (kind == RecordKind::own) {
    return detail::OwnCodec<T>::encode(record, to);
  } else if constexpr (kind == RecordKind::optional) {
    *to++ = static_cast<std::byte>(record.has_value());
    return record ? encode(*record, to) : to;
  } else if constexpr (kind == RecordKind::fields) {
    detail::visit_fields(record, [&to](const auto&... field) { ((to = encode(field, to)), ...); });
    return to;
  } else {
    using Element = typename T::value_type;
    if constexpr (kind == RecordKind::vector) to = detail::encode_size(record.size(), to);
    if constexpr (is_flat_record<Element>) {
      if (!record.empty()) std::memcpy(to, record.data(), record.size() * sizeof(Element));
      return to + record.size() * sizeof(Element);
    } else {
      for (const Element& element : record) to = encode<Element>(element, to);
      return to;
    }
  }
}

template <Record T>
T decode(RecordReader& from);

namespace detail {

template <class T>
T decode_flat(RecordReader& from) {
  T value;
  std::memcpy(&value, take(from, sizeof(T), "bytes of a number or struct"), sizeof(T));
  return value;
}

template <class T>
T decode_bool(RecordReader& from) {
  const auto byte = static_cast<unsigned>(*take(from, 1, "byte of a bool"));
  if (byte > 1) throw_bad_record(from, "0 or 1 in the byte before, a bool");
  return static_cast<T>(byte);
}

// Decodes a vector. Takes memory for elements that are there: whatever size is announced, it reserves no
// more bytes than are left.
template <class T>
T decode_vector(RecordReader& from) {
  using Element = typename T::value_type;
  const std::size_t size = decode_size(from);
  constexpr std::size_t least = encoded_size_range<Element>.least;
  if (size > from.bytes_left() / least) throw_cut_record(from, size, "elements");
  if constexpr (is_flat_record<Element>) {
    T elements(size);
    const std::byte* bytes = take(from, size * sizeof(Element), "bytes of elements");
    if (size > 0) std::memcpy(elements.data(), bytes, size * sizeof(Element));
    return elements;
  } else {
    T elements;
    elements.reserve(std::min(size, from.bytes_left() / sizeof(Element) + 1));
    for (std::size_t i = 0; i < size; ++i) elements.push_back(decode<Element>(from));
    return elements;
  }
}

template <class T, class... F>
T decode_fields(RecordReader& from, Types<F...>) {
  return T{decode<F>(from)...};  // braces are evaluated from left to right
}

template <class T>
T decode_array(RecordReader& from) {
  T elements{};
  for (auto& element : elements) element = decode<typename T::value_type>(from);
  return elements;
}

}  // namespace detail

// Passes over one record and returns it; a std::string_view in it points into the bytes. Throws
// data_loss, and takes no memory for what is only announced, if the bytes are not what encode() writes.
template <Record T>
T decode(RecordReader& from) {
  using detail::RecordKind;
  constexpr RecordKind kind = detail::record_kind<T>();
  if constexpr (is_flat_record<T>) {
    return detail::decode_flat<T>(from);
  } else if constexpr (kind == RecordKind::number) {
    return detail::decode_bool<T>(from);
  } else if constexpr (kind == RecordKind::text) {
    const std::size_t size = detail::decode_size(from);
    return T(reinterpret_cast<const char*>(detail::take(from, size, "bytes of text")), size);
  } else if constexpr (kind == RecordKind::own) {
    return detail::OwnCodec<T>::decode(from);
  } else if constexpr (kind == RecordKind::optional) {
    return detail::decode_bool<bool>(from) ? T(decode<typename T::value_type>(from)) : T();
  } else if constexpr (kind == RecordKind::vector) {
    return detail::decode_vector<T>(from);
  } else if constexpr (kind == RecordKind::array) {
    return detail::decode_array<T>(from);
  } else {
    return detail::decode_fields<T>(from, detail::FieldTypes<T>());
  }
}

}  // namespace actorflow

// The memory that records hold outside of themselves: the bytes of texts, the elements of vectors and
// tensors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "schema/records/record.h"

namespace actorflow {
namespace detail {

// What usual allocators take in addition to the bytes that are asked for.
constexpr std::size_t allocation_bytes = 16;
// The number of elements of a long vector that are looked at, evenly spread over it.
constexpr std::size_t sampled_elements = 16;

template <class T>
consteval bool has_heap();

template <class... F>
consteval bool have_heap(Types<F...>) {
  return (has_heap<F>() || ...);
}

template <class T>
consteval bool has_heap() {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::number || is_short_float<T>)
    return false;
  else if constexpr (kind == RecordKind::text)
    return std::is_same_v<T, std::string>;
  else if constexpr (kind == RecordKind::vector || kind == RecordKind::own)
    return true;
  else if constexpr (kind == RecordKind::fields)
    return have_heap(FieldTypes<T>());
  else
    return has_heap<typename T::value_type>();
}

}  // namespace detail

// Whether records of T may hold anything besides themselves.
template <Record T>
constexpr bool has_heap = detail::has_heap<T>();

template <Record T>
std::size_t heap_bytes(const T& record);

namespace detail {

template <class Elements>
std::size_t heap_bytes_of_elements(const Elements& elements) {
  const std::size_t seen = std::min(elements.size(), sampled_elements);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < seen; ++i) bytes += heap_bytes(elements[elements.size() * i / seen]);
  return seen == 0 ? 0
                   : static_cast<std::size_t>(static_cast<double>(bytes) / double(seen) *
                                              double(elements.size()));
}

}  // namespace detail

// The bytes that a record holds outside of itself, in constant time: for a long vector of records that
// hold something themselves an estimate, from some of them.
template <Record T>
std::size_t heap_bytes(const T& record) {
  using detail::RecordKind;
  constexpr RecordKind kind = detail::record_kind<T>();
  if constexpr (!has_heap<T>) {
    return 0;
  } else if constexpr (kind == RecordKind::text) {
    return record.capacity() > T().capacity() ? record.capacity() + 1 + detail::allocation_bytes : 0;
  } else if constexpr (kind == RecordKind::own) {
    return detail::OwnCodec<T>::heap_bytes(record);
  } else if constexpr (kind == RecordKind::fields) {
    return detail::visit_fields(record, [](const auto&... field) { return (heap_bytes(field) + ...); });
  } else if constexpr (kind == RecordKind::optional) {
    return record ? heap_bytes(*record) : 0;
  } else if constexpr (kind == RecordKind::array) {
    return detail::heap_bytes_of_elements(record);
  } else {
    using Element = typename T::value_type;
    if (record.capacity() == 0) return 0;
    std::size_t bytes = record.capacity() * sizeof(Element) + detail::allocation_bytes;
    if constexpr (has_heap<Element>) bytes += detail::heap_bytes_of_elements(record);
    return bytes;
  }
}

}  // namespace actorflow

// The order of keys, for who has compared their prefixes (order_prefix.h) and found them equal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "schema/records/order_prefix.h"
#include "schema/records/record.h"

namespace actorflow {

// Below, equal to or above 0: an order of all keys, which order_prefix() never contradicts. As operator<
// has it, except that NaNs are equal and come last, wherever in a key they are. A struct that brings an
// operator< is compared by that.
template <Record K>
int order_of_keys(const K& a, const K& b);

namespace detail {

template <class Elements>
int order_of_elements(const Elements& a, const Elements& b) {
  using Element = typename Elements::value_type;
  const std::size_t both = std::min(a.size(), b.size());
  if constexpr (std::is_same_v<Element, std::uint8_t>) {
    const int order = both > 0 ? std::memcmp(a.data(), b.data(), both) : 0;
    if (order != 0) return order;
  } else {
    for (std::size_t i = 0; i < both; ++i)
      if (const int order = order_of_keys<Element>(a[i], b[i]); order != 0) return order;
  }
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

template <class K>
int order_of_fields(const K& a, const K& b) {
  return visit_fields(a, [&b](const auto&... x) {
    return visit_fields(b, [&x...](const auto&... y) {
      int order = 0;
      static_cast<void>((((order = order_of_keys(x, y)) == 0) && ...));
      return order;
    });
  });
}

}  // namespace detail

template <Record K>
int order_of_keys(const K& a, const K& b) {
  using detail::RecordKind;
  static_assert(require_key<K>());
  constexpr RecordKind kind = detail::record_kind<K>();
  if constexpr (kind == RecordKind::number) {
    const auto x = detail::ordered(static_cast<detail::Number<K>>(a)),
               y = detail::ordered(static_cast<detail::Number<K>>(b));
    return x < y ? -1 : x > y ? 1 : 0;
  } else if constexpr (kind == RecordKind::text) {
    return a.compare(b);
  } else if constexpr (kind == RecordKind::array || kind == RecordKind::vector) {
    return detail::order_of_elements(a, b);
  } else if constexpr (kind == RecordKind::optional) {
    if (a && b) return order_of_keys(*a, *b);
    return a ? 1 : b ? -1 : 0;
  } else if constexpr (detail::Ordered<K>) {
    return a < b ? -1 : b < a ? 1 : 0;
  } else {
    return detail::order_of_fields(a, b);
  }
}

}  // namespace actorflow

// Orders of records, each as a 64-bit prefix and a comparison of those whose prefixes are equal.
#pragma once

#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "schema/records/key.h"
#include "schema/records/key_order.h"

namespace actorflow {

enum class SortOrder { ascending, descending };

// The order by the key that `key_of`, a user's function or a pointer to a member, gives.
template <class T, class KeyOf>
class KeyOrder {
 public:
  using Key = std::decay_t<std::invoke_result_t<const KeyOf&, const T&>>;
  static_assert(require_key<Key>());

  KeyOrder(KeyOf key_of, SortOrder order, OperatorRef op)
      : key_of_(std::move(key_of)), descending_(order == SortOrder::descending), op_(std::move(op)) {}

  decltype(auto) key(const T& record) const {
    return call_user(*op_, [&]() -> decltype(auto) { return std::invoke(key_of_, record); });
  }
  std::uint64_t prefix(const T& record) const { return prefix_of_key(key(record)); }
  std::uint64_t prefix_of_key(const Key& key) const {
    const std::uint64_t prefix = order_prefix(key);
    return descending_ ? ~prefix : prefix;
  }
  int compare(const T& a, const T& b) const { return compare_keys(key(a), key(b)); }
  int compare_keys(const Key& a, const Key& b) const {
    return descending_ ? order_of_keys(b, a) : order_of_keys(a, b);
  }
  // Whether a comes after b: of NaN, which compares as nothing, this says no.
  bool is_after(const Key& a, const Key& b) const { return descending_ ? a < b : b < a; }
  static constexpr bool prefix_is_whole = order_prefix_is_whole<Key>;
  // Whether is_after() takes less than prefix().
  static constexpr bool compares_fast = std::is_arithmetic_v<Key>;

 private:
  KeyOf key_of_;
  bool descending_;
  OperatorRef op_;
};

// The order of pairs by the hash of their key, and for equal hashes by its bytes: brings equal keys
// together.
template <class K, class V>
class HashOrder {
 public:
  std::uint64_t prefix(const std::pair<K, V>& record) const {
    return hash_bytes(key_bytes(record.first, a_));
  }
  int compare(const std::pair<K, V>& a, const std::pair<K, V>& b) const {
    return compare_keys(a.first, b.first);
  }
  int compare_keys(const K& a, const K& b) const {
    const auto x = key_bytes(a, a_), y = key_bytes(b, b_);
    const int order = std::memcmp(x.data(), y.data(), std::min(x.size(), y.size()));
    return order != 0 ? order : x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0;
  }
  static constexpr bool prefix_is_whole = false;

 private:
  mutable std::vector<std::byte> a_, b_;
};

// The same, and for equal keys by what `key_of` gives for the value, whose prefix is the second prefix.
template <class K, class V, class KeyOf>
class ValueOrder : public HashOrder<K, V> {
 public:
  explicit ValueOrder(KeyOrder<V, KeyOf> values) : values_(std::move(values)) {}

  std::uint64_t second_prefix(const std::pair<K, V>& record) const {
    return values_.prefix(record.second);
  }
  int compare(const std::pair<K, V>& a, const std::pair<K, V>& b) const {
    const int order = this->compare_keys(a.first, b.first);
    return order != 0 ? order : compare_values(a.second, b.second);
  }
  static constexpr bool second_prefix_is_whole = KeyOrder<V, KeyOf>::prefix_is_whole;

 private:
  int compare_values(const V& a, const V& b) const {
    const std::uint64_t x = values_.prefix(a), y = values_.prefix(b);
    return x < y ? -1 : x > y ? 1 : second_prefix_is_whole ? 0 : values_.compare(a, b);
  }

  KeyOrder<V, KeyOf> values_;
};

}  // namespace actorflow

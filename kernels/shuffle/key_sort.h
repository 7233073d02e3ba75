// Sorting records by key: entries of 16 bytes are sorted, then the records gathered once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "kernels/shuffle/equal_prefixes.h"
#include "kernels/shuffle/radix_sort.h"

namespace actorflow {

// A record: the beginning of its key as a number (of bytes: the first one is the highest), and its
// place.
struct SortEntry {
  std::uint64_t prefix;
  std::uint64_t index;
};

// The tie of keys that are nothing but their prefix.
struct WholePrefix {
  template <class Entry>
  int operator()(const Entry&, const Entry&) const {
    return 0;
  }
};

// Sorts by prefix; where prefixes are equal by tie(a, b), which compares the full keys and gives a
// number or an ordering less than, equal to or greater than 0; then by index. That is a stable sort
// where indices count the records. Entry is SortEntry, or has unsigned members of these names; each
// index occurs once. Takes 1 MiB of memory beside the entries. Sorted, reversed and equal keys take no
// longer than others; keys that differ, but not in their prefix, are compared n log n times.
template <class Entry, class Tie = WholePrefix>
void sort_entries(std::span<Entry> entries, Tie tie = {}) {
  static_assert(!std::same_as<std::invoke_result_t<Tie, const Entry&, const Entry&>, bool>,
                "a tie compares three ways, as memcmp() does");
  const auto by_index = [](std::span<Entry> equal) {
    detail::radix_sort(
        equal, [](const Entry& entry) { return entry.index; },
        [](const Entry& a, const Entry& b) { return a.index < b.index; }, [](std::span<Entry>) {});
  };
  const auto by_tie = [&](std::span<Entry> equal) {
    if constexpr (std::same_as<Tie, WholePrefix>)
      by_index(equal);
    else
      detail::EqualPrefixes<Entry, Tie, decltype(by_index)>(tie, by_index)(equal);
  };
  const auto less = [&tie](const Entry& a, const Entry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const auto order = tie(a, b);
    return order != 0 ? order < 0 : a.index < b.index;
  };
  detail::radix_sort(
      entries, [](const Entry& entry) { return entry.prefix; }, less, by_tie);
}

// Copies the records of `record_bytes` each, which lie one after the other in `records`, to `out` in the
// order of the entries. `out` has room for all of them and lies apart.
void gather_records(std::span<const SortEntry> entries, std::span<const std::byte> records,
                    std::size_t record_bytes, std::byte* out);
// The same of records of any size: the one of index i lies from offsets[i] to offsets[i + 1].
void gather_records(std::span<const SortEntry> entries, std::span<const std::byte> records,
                    std::span<const std::uint64_t> offsets, std::byte* out);

}  // namespace actorflow

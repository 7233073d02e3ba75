// The order of entries whose prefixes are equal, for key_sort.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>

namespace actorflow::detail {

// Sorts by tie(a, b), and equal ones by `sort_equal(entries)`. Quicksort in three parts (Bentley and
// McIlroy, Engineering a Sort Function, 1993), because keys whose prefixes are equal are mostly equal:
// then one pass, in which the pivot's record stays in the cache, is all. After too many poor pivots
// std::sort takes over.
template <class Entry, class Tie, class SortEqual>
class EqualPrefixes {
 public:
  EqualPrefixes(Tie tie, SortEqual sort_equal) : tie_(tie), sort_equal_(sort_equal) {}

  void operator()(std::span<Entry> entries) {
    for (auto pivots = 2 * std::bit_width(entries.size()); entries.size() > 1; --pivots) {
      if (pivots == 0) return std::sort(entries.begin(), entries.end(), less());
      const auto [below, above] = partition(entries, median(entries));
      sort_equal_(entries.subspan(below, above - below));
      auto rest = std::pair{entries.first(below), entries.subspan(above)};
      if (rest.first.size() > rest.second.size()) std::swap(rest.first, rest.second);
      (*this)(rest.first);
      entries = rest.second;
    }
  }

 private:
  auto less() const {
    return [this](const Entry& a, const Entry& b) {
      const auto order = tie_(a, b);
      return order != 0 ? order < 0 : a.index < b.index;
    };
  }
  Entry median(std::span<const Entry> entries) const {
    const std::size_t quarter = entries.size() / 4;
    Entry a = entries[quarter], b = entries[entries.size() / 2],
          c = entries[entries.size() - 1 - quarter];
    if (less()(b, a)) std::swap(a, b);
    if (less()(c, b)) std::swap(b, c);
    return less()(b, a) ? a : b;
  }
  // Where the entries equal to the pivot begin and end, once those below and above it lie around them.
  std::pair<std::size_t, std::size_t> partition(std::span<Entry> entries, const Entry pivot) const {
    std::size_t below = 0, above = entries.size();
    for (std::size_t i = 0; i < above;) {
      const auto order = tie_(entries[i], pivot);
      if (order < 0)
        std::swap(entries[below++], entries[i++]);
      else if (order > 0)
        std::swap(entries[i], entries[--above]);
      else
        ++i;
    }
    return {below, above};
  }

  Tie tie_;
  SortEqual sort_equal_;
};

}  // namespace actorflow::detail

// A radix sort of small entries, for key_sort.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace actorflow::detail {

// Sorts entries by key_of(entry), an unsigned number, and then as `less`, which compares whole entries,
// says. equal(entries) sorts entries of equal keys. From the highest bit in which keys differ: American
// flag sort (McIlroy, Bostic and McIlroy, Engineering Radix Sort, 1993) in place until a bucket fits
// into the scratch memory, then two passes from the lower digit to the upper one, then insertion. The
// bits that all keys share cost one pass, so that no more than 8 calls are ever nested.
template <class Entry, class KeyOf, class Less, class Equal>
class RadixSort {
 public:
  // Below that, insertion sorts.
  static constexpr std::size_t few = 32;
  // So many entries of 16 bytes are half of a second-level cache. A constant: sorting takes no other
  // memory.
  static constexpr std::size_t scratch_entries = std::size_t{1} << 15U;

  RadixSort(KeyOf key_of, Less less, Equal equal) : key_of_(key_of), less_(less), equal_(equal) {}

  void operator()(std::span<Entry> entries) {
    if (entries.size() <= few) return insertion_sort(entries);
    const auto differing = differing_bits(entries);
    if (differing == 0) return equal_(entries);
    const auto bits = static_cast<int>(std::bit_width(differing));
    if (entries.size() <= scratch_entries)
      sort_by_two_digits(entries, bits);
    else
      sort_in_place(entries, bits);
  }

 private:
  static constexpr int digit_bits = 8, digits = 1 << digit_bits;
  using Counts = std::array<std::size_t, digits + 1>;
  struct Digit {
    int shift, bits;
  };

  std::size_t value(const Entry& entry, Digit digit) const {
    return static_cast<std::size_t>(key_of_(entry) >> digit.shift) &
           ((std::size_t{1} << digit.bits) - 1);
  }
  auto differing_bits(std::span<const Entry> entries) const {
    const auto first = key_of_(entries[0]);
    auto bits = first ^ first;
    for (const Entry& entry : entries) bits |= key_of_(entry) ^ first;
    return bits;
  }
  // Where the entries of each value of the digit begin, and the end.
  Counts begins(std::span<const Entry> entries, Digit digit) const {
    Counts counts{};
    for (const Entry& entry : entries) ++counts[value(entry, digit) + 1];
    for (std::size_t i = 0; i < std::size_t{1} << digit.bits; ++i) counts[i + 1] += counts[i];
    return counts;
  }

  void sort_in_place(std::span<Entry> entries, int bits) {
    const int shift = std::max(bits - digit_bits, 0);
    const Digit digit{shift, bits - shift};
    const Counts begin = begins(entries, digit);
    bring_to_buckets(entries, digit, begin);
    for (std::size_t i = 0; i < digits; ++i)
      if (begin[i] < begin[i + 1]) (*this)(entries.subspan(begin[i], begin[i + 1] - begin[i]));
  }
  // Sends each entry in turn to the bucket where it belongs; the one from there is looked at in a later
  // round. That gives the processor many swaps at a time, where to follow one entry after the other
  // gives it a single one.
  void bring_to_buckets(std::span<Entry> entries, Digit digit, const Counts& begin) const {
    Counts next = begin;
    std::array<std::uint16_t, digits> open;
    std::size_t num_open = 0;
    for (std::uint16_t i = 0; i < digits; ++i)
      if (begin[i] < begin[i + 1]) open[num_open++] = i;
    while (num_open > 1) {
      std::size_t still_open = 0;
      for (std::size_t i = 0; i < num_open; ++i) {
        const std::size_t bucket = open[i], end = begin[bucket + 1];
        for (std::size_t from = next[bucket]; from < end; ++from)
          std::swap(entries[from], entries[next[value(entries[from], digit)]++]);
        if (next[bucket] < end) open[still_open++] = open[i];
      }
      num_open = still_open;
    }
  }

  void sort_by_two_digits(std::span<Entry> entries, int bits) {
    const int enough = static_cast<int>(std::bit_width(entries.size())) + 2;
    const int sorted = std::min({bits, enough, 2 * digit_bits});
    const Digit lower{bits - sorted, sorted / 2}, upper{lower.shift + lower.bits, sorted - lower.bits};
    if (!scratch_) scratch_ = std::make_unique_for_overwrite<Entry[]>(scratch_entries);
    const std::span<Entry> scratch(scratch_.get(), entries.size());
    distribute(entries, scratch, lower);
    distribute(scratch, entries, upper);
    sort_groups(entries, lower.shift);
  }
  void distribute(std::span<const Entry> from, std::span<Entry> to, Digit digit) const {
    Counts next = begins(from, digit);
    for (const Entry& entry : from) to[next[value(entry, digit)]++] = entry;
  }
  // The entries are sorted but for the lower `shift` bits. Large groups that are equal so far are sorted
  // as a whole, what lies between them by insertion, which moves no entry out of its group.
  void sort_groups(std::span<Entry> entries, int shift) {
    const auto group = [&](std::size_t i) { return key_of_(entries[i]) >> shift; };
    std::size_t sorted = 0;
    for (std::size_t i = 0; i + few < entries.size();) {
      if (group(i) != group(i + few)) {
        ++i;
        continue;
      }
      std::size_t end = i + few;
      while (end < entries.size() && group(end) == group(i)) ++end;
      insertion_sort(entries.subspan(sorted, i - sorted));
      (*this)(entries.subspan(i, end - i));
      i = sorted = end;
    }
    insertion_sort(entries.subspan(sorted));
  }
  void insertion_sort(std::span<Entry> entries) const {
    for (std::size_t i = 1; i < entries.size(); ++i) {
      const Entry entry = entries[i];
      std::size_t place = i;
      for (; place > 0 && less_(entry, entries[place - 1]); --place) entries[place] = entries[place - 1];
      entries[place] = entry;
    }
  }

  KeyOf key_of_;
  Less less_;
  Equal equal_;
  std::unique_ptr<Entry[]> scratch_;
};

template <class Entry, class KeyOf, class Less, class Equal>
void radix_sort(std::span<Entry> entries, KeyOf key_of, Less less, Equal equal) {
  RadixSort<Entry, KeyOf, Less, Equal>(key_of, less, equal)(entries);
}

}  // namespace actorflow::detail

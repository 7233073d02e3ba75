#include "kernels/shuffle/key_sort.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(key_sort)

using namespace actorflow;

namespace {

using Entries = std::vector<SortEntry>;

// `prefix(i)` for each of the entries.
template <class Prefix>
Entries entries_of(std::size_t count, Prefix prefix) {
  Entries entries;
  for (std::size_t i = 0; i < count; ++i) entries.push_back({static_cast<std::uint64_t>(prefix(i)), i});
  return entries;
}

bool equal(const Entries& a, const Entries& b) {
  return std::ranges::equal(a, b,
                            [](auto& x, auto& y) { return x.prefix == y.prefix && x.index == y.index; });
}

// That sort_entries() does the same as std::stable_sort() by prefix.
void check(const std::string& what, const Entries& entries) {
  Entries ours = entries, expected = entries;
  std::ranges::stable_sort(expected, {}, &SortEntry::index);
  std::ranges::stable_sort(expected, {}, &SortEntry::prefix);
  sort_entries(std::span(ours));
  BOOST_TEST(equal(ours, expected), what << ", entries: " << entries.size());
}

const std::vector<std::size_t> sizes = {0, 1, 2, 31, 32, 33, 34, 65, 1000, 32'768, 32'769, 300'000};

// Records that are strings: the prefix is their first 8 bytes, big-endian.
struct Strings {
  explicit Strings(std::vector<std::string> all) : texts(std::move(all)) {
    for (std::size_t i = 0; i < texts.size(); ++i) entries.push_back({prefix(texts[i]), i});
  }
  static std::uint64_t prefix(const std::string& text) {
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i)
      prefix = prefix << 8U | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
    return prefix;
  }
  void check(const std::string& what) {
    Entries expected = entries;
    std::ranges::stable_sort(expected, [this](const SortEntry& a, const SortEntry& b) {
      return texts[a.index] < texts[b.index];
    });
    sort_entries(std::span(entries), [this](const SortEntry& a, const SortEntry& b) {
      ++comparisons;
      return texts[a.index].compare(texts[b.index]);
    });
    BOOST_TEST(equal(entries, expected), what);
  }

  std::vector<std::string> texts;
  Entries entries;
  std::size_t comparisons = 0;
};

std::vector<std::byte> bytes_of(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(whole_prefixes_are_sorted_as_by_a_stable_sort) {
  std::mt19937_64 random(1);
  for (const std::size_t size : sizes) {
    check("random", entries_of(size, [&](auto) { return random(); }));
    check("sorted", entries_of(size, [](auto i) { return i; }));
    check("reversed", entries_of(size, [](auto i) { return ~i; }));
    check("equal", entries_of(size, [](auto) { return 42; }));
    check("two values", entries_of(size, [](auto i) { return i % 2 << 60U; }));
    check("one bit each", entries_of(size, [](auto i) { return std::uint64_t{1} << i % 64; }));
    check("lowest byte", entries_of(size, [&](auto) { return random() % 256 | 0xABCD'0000'0000'0000; }));
    check("of all magnitudes", entries_of(size, [&](auto) { return random() >> random() % 64; }));
    check("one apart", entries_of(size, [&](auto i) { return i == size / 2 ? 0 : ~std::uint64_t{0}; }));
    check("many ties and one of each",
          entries_of(size, [&](auto i) { return i % 3 == 0 ? random() : std::uint64_t{5} << 33U; }));
  }
}

BOOST_AUTO_TEST_CASE(equal_prefixes_keep_the_order_of_their_indices_wherever_they_stand) {
  std::mt19937_64 random(2);
  Entries entries = entries_of(100'000, [](auto i) { return i % 7; });
  std::ranges::shuffle(entries, random);
  check("shuffled", entries);
}

BOOST_AUTO_TEST_CASE(full_keys_decide_where_prefixes_are_equal) {
  std::mt19937 random(3);
  for (const std::size_t size : sizes) {
    std::vector<std::string> same, few, all;
    for (std::size_t i = 0; i < size; ++i) {
      same.push_back("prefix..suffix");
      few.push_back("prefix.." + std::to_string(random() % 3));
      all.push_back("key " + std::to_string(random() % (2 * size)) + std::string(random() % 20, 'x'));
    }
    Strings(same).check("equal keys");
    Strings(few).check("few keys of one prefix");
    Strings(all).check("many keys");
  }
}

BOOST_AUTO_TEST_CASE(equal_keys_are_compared_about_once) {
  Strings strings(std::vector<std::string>(100'000, "a key that is in every record"));
  strings.check("equal keys");
  BOOST_TEST(strings.comparisons < 110'000u);
}

BOOST_AUTO_TEST_CASE(keys_with_one_prefix_take_n_log_n_comparisons_in_any_order) {
  std::vector<std::string> up, down, pipes;
  for (std::size_t i = 0; i < 50'000; ++i) {
    up.push_back("prefix.." + std::to_string(100'000 + i));
    pipes.push_back("prefix.." + std::to_string(100'000 + std::min(i, 50'000 - i)));
  }
  down.assign(up.rbegin(), up.rend());
  for (const auto& keys : {up, down, pipes}) {
    Strings strings(keys);
    strings.check("one prefix");
    BOOST_TEST(strings.comparisons < 50'000u * 3 * 16);
  }
}

BOOST_AUTO_TEST_CASE(entries_of_8_bytes_are_sorted_too) {
  struct Small {
    std::uint32_t prefix, index;
  };
  std::mt19937 random(4);
  std::vector<Small> entries;
  for (std::uint32_t i = 0; i < 100'000; ++i)
    entries.push_back({static_cast<std::uint32_t>(random() % 5000), i});
  auto expected = entries;
  std::ranges::stable_sort(expected, {}, &Small::prefix);
  sort_entries(std::span(entries));
  BOOST_TEST(std::ranges::equal(entries, expected, {}, &Small::index, &Small::index));
}

BOOST_AUTO_TEST_CASE(records_of_one_size_are_gathered_in_the_order_of_entries) {
  std::mt19937_64 random(5);
  for (const std::size_t record_bytes : {0, 1, 7, 8, 16, 63, 64, 65, 100, 1000})
    for (const std::size_t count : {0, 1, 2, 15, 17, 300}) {
      const auto records = bytes_of(record_bytes * count);
      Entries entries = entries_of(count, [](auto) { return 0; });
      std::ranges::shuffle(entries, random);
      std::vector<std::byte> out(records.size() + 1, std::byte{77}), expected;
      gather_records(entries, records, record_bytes, out.data());
      for (const auto& entry : entries)
        expected.insert(expected.end(), records.begin() + static_cast<long>(entry.index * record_bytes),
                        records.begin() + static_cast<long>((entry.index + 1) * record_bytes));
      expected.push_back(std::byte{77});
      BOOST_TEST((out == expected), "records of " << record_bytes << " bytes: " << count);
    }
}

BOOST_AUTO_TEST_CASE(records_of_any_size_are_gathered_in_the_order_of_entries) {
  std::mt19937_64 random(6);
  std::vector<std::uint64_t> offsets = {0};
  for (std::size_t i = 0; i < 500; ++i)
    offsets.push_back(offsets.back() + (i % 3 == 0 ? 0 : random() % 700));
  const auto records = bytes_of(offsets.back());
  Entries entries = entries_of(500, [](auto) { return 0; });
  std::ranges::shuffle(entries, random);
  std::vector<std::byte> out(records.size()), expected;
  gather_records(entries, records, offsets, out.data());
  for (const auto& entry : entries)
    expected.insert(expected.end(), records.begin() + static_cast<long>(offsets[entry.index]),
                    records.begin() + static_cast<long>(offsets[entry.index + 1]));
  BOOST_TEST((out == expected));
}

BOOST_AUTO_TEST_SUITE_END()

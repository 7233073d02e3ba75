#include "kernels/shuffle/group_table.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

BOOST_AUTO_TEST_SUITE(group_table)

using namespace actorflow;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ number >> 32U) * 0x9E37'79B9'7F4A'7C15;
  return (number ^ number >> 29U) * 0xBF58'476D'1CE4'E5B9;
}
std::uint64_t hash_of(std::string_view key) {
  std::uint64_t hash = key.size();
  for (const char c : key) hash = mixed(hash + static_cast<unsigned char>(c));
  return hash ^ hash >> 31U;
}
std::uint64_t no_hash(std::string_view) { return 7; }

using Counts = GroupTable<std::int64_t>;
void count(Counts& table, const std::string& key, std::uint64_t hash) {
  ++*table.find_or_insert(hash, bytes_of(key)).value;
}
void count(Counts& table, const std::string& key) { count(table, key, hash_of(key)); }

struct Row {
  std::uint64_t hash;
  std::string key;
  std::int64_t value;
  bool operator==(const Row&) const = default;
};
std::vector<Row> rows_of(Counts& table) {
  std::vector<Row> rows;
  table.for_each([&](std::uint64_t hash, std::span<const std::byte> key, std::int64_t& value) {
    rows.push_back({hash, text_of(key), value});
  });
  return rows;
}

// A table and the std::map that it must agree with.
struct Checked {
  explicit Checked(std::uint64_t (*hash_function)(std::string_view)) : hash(hash_function) {}
  void count(const std::string& key) {
    const auto found = table.find_or_insert(hash(key), bytes_of(key));
    const auto [expected, inserted] = counts.try_emplace(key, 0);
    if (inserted) order.push_back(key);
    BOOST_REQUIRE_EQUAL(found.inserted, inserted);
    BOOST_REQUIRE_EQUAL((*found.value)++, expected->second++);
  }
  void check() {
    std::vector<Row> expected;
    for (const auto& key : order) expected.push_back({hash(key), key, counts[key]});
    BOOST_TEST((rows_of(table) == expected));
    BOOST_TEST(table.size() == expected.size());
  }

  std::uint64_t (*hash)(std::string_view);
  Counts table{64 * mebibyte};
  std::map<std::string, std::int64_t> counts;
  std::vector<std::string> order;
};

std::string random_key(std::mt19937& random, std::size_t max_bytes, unsigned letters) {
  std::string key(random() % (max_bytes + 1), ' ');
  for (char& c : key) c = static_cast<char>(random() % letters);
  return key;
}

// What is in the table whenever it is full, and at the end; it is cleared each time.
std::vector<std::vector<Row>> fillings(Counts& table, std::size_t keys, std::size_t key_bytes) {
  std::vector<std::vector<Row>> all;
  for (std::size_t i = 0; i < keys; ++i) {
    if (table.full()) {
      all.push_back(rows_of(table));
      table.clear();
    }
    std::string key = std::to_string(mixed(i));
    key.resize(key_bytes, '.');
    count(table, key);
  }
  all.push_back(rows_of(table));
  table.clear();
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(keys_of_0_to_64_bytes_are_told_apart) {
  std::mt19937 random(1);
  Checked checked(hash_of);
  for (int i = 0; i < 300'000; ++i) checked.count(random_key(random, 64, 2 + i % 3));
  checked.check();
}

BOOST_AUTO_TEST_CASE(keys_whose_hashes_are_all_equal_are_told_apart) {
  std::mt19937 random(2);
  Checked checked(no_hash);
  for (int i = 0; i < 3000; ++i) checked.count(random_key(random, 64, 2));
  checked.check();
}

BOOST_AUTO_TEST_CASE(zeros_at_the_end_of_a_key_count) {
  Checked checked(no_hash);
  for (const std::size_t zeros : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33})
    for (int twice = 0; twice < 2; ++twice) checked.count(std::string(zeros, '\0'));
  checked.check();
  BOOST_TEST(checked.table.size() == 12u);
}

BOOST_AUTO_TEST_CASE(hashes_that_differ_in_one_half_only_are_told_apart) {
  Counts table(mebibyte);
  for (const std::uint64_t hash :
       {std::uint64_t{5}, std::uint64_t{5} << 32U | 5, std::uint64_t{6} << 32U | 5})
    BOOST_TEST(table.find_or_insert(hash, bytes_of("key " + std::to_string(hash))).inserted);
  BOOST_TEST(!table.find_or_insert(5, bytes_of("key 5")).inserted);
}

BOOST_AUTO_TEST_CASE(a_million_keys_keep_their_values_and_their_addresses) {
  Counts table(256 * mebibyte);
  std::vector<const std::int64_t*> places;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    const auto found = table.find_or_insert(mixed(i), std::as_bytes(std::span(&i, 1)));
    BOOST_REQUIRE(found.inserted);
    *found.value = static_cast<std::int64_t>(i);
    places.push_back(found.value);
  }
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    const auto found = table.find_or_insert(mixed(i), std::as_bytes(std::span(&i, 1)));
    BOOST_REQUIRE(!found.inserted);
    BOOST_REQUIRE(found.value == places[i]);
    BOOST_REQUIRE(*found.value == static_cast<std::int64_t>(i));
  }
}

BOOST_AUTO_TEST_CASE(a_cleared_table_behaves_as_a_new_one) {
  for (const std::size_t limit : {mebibyte, 8 * mebibyte, 40 * mebibyte}) {
    Counts used(limit), fresh(limit);
    // Rows take the most memory, then long keys, then both again.
    const auto first = fillings(used, 1'500'000, 12);
    BOOST_TEST(first.size() > 1u);
    const auto with_long_keys = fillings(used, 100'000, 500);
    BOOST_TEST((with_long_keys == fillings(fresh, 100'000, 500)));
    BOOST_TEST((fillings(used, 1'500'000, 12) == first));
    BOOST_TEST(used.size() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(few_rows_after_many_are_found_and_removed_again) {
  Counts table(64 * mebibyte);
  for (const std::size_t rows : {500'000, 10, 70'000, 1, 30'000}) {
    for (std::size_t i = 0; i < rows; ++i) count(table, std::to_string(i));
    for (std::size_t i = 0; i < rows; ++i) count(table, std::to_string(i));
    BOOST_TEST(table.size() == rows);
    for (const Row& row : rows_of(table)) BOOST_REQUIRE_EQUAL(row.value, 2);
    if (rows == 10) table.for_each_by_hash([](auto&&...) {});
    table.clear();
  }
}

BOOST_AUTO_TEST_CASE(memory_that_was_needed_once_is_kept) {
  Counts table(64 * mebibyte);
  fillings(table, 500'000, 12);
  const std::size_t memory = table.memory_bytes();
  fillings(table, 10, 12);
  BOOST_TEST(table.memory_bytes() == memory);
  fillings(table, 500'000, 12);
  BOOST_TEST(table.memory_bytes() == memory);
}

BOOST_AUTO_TEST_CASE(memory_never_exceeds_the_limit_and_a_full_table_uses_most_of_it) {
  for (const std::size_t limit : {mebibyte, 5 * mebibyte, 20 * mebibyte, 64 * mebibyte, 100 * mebibyte})
    for (const std::size_t key_bytes : {8, 40, 1024}) {
      Counts table(limit);
      std::string key(key_bytes, 'k');
      for (int fill = 0; fill < 2; ++fill) {
        for (std::uint64_t i = 0; !table.full(); ++i) {
          std::memcpy(key.data(), &i, sizeof(i));
          count(table, key, mixed(i));
          BOOST_REQUIRE(table.memory_bytes() <= limit);
        }
        BOOST_TEST(table.memory_bytes() > limit / 10 * 8,
                   table.memory_bytes() << " of " << limit << " with keys of " << key_bytes);
        if (fill == 0) table.clear();
      }
    }
}

BOOST_AUTO_TEST_CASE(a_row_at_a_time_goes_through_a_limit_that_is_too_small) {
  Counts table(1);
  BOOST_TEST(!table.full());
  BOOST_TEST(fillings(table, 5, 10).size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_key_of_many_bytes_takes_the_table_beyond_its_limit_by_itself_only) {
  Counts table(mebibyte);
  const std::string large(3 * mebibyte, 'x');
  count(table, "small");
  count(table, large);
  BOOST_TEST(table.full());
  BOOST_TEST(table.memory_bytes() < large.size() + 3 * mebibyte);
  BOOST_TEST(rows_of(table)[1].key.size() == large.size());
  table.clear();
  BOOST_TEST(table.memory_bytes() <= mebibyte);
  BOOST_TEST(!table.full());
}

BOOST_AUTO_TEST_CASE(rows_come_by_partition_and_in_the_order_of_insertion_within_one) {
  for (const std::uint32_t partitions : {1U, 2U, 7U, 1000U}) {
    Counts table(64 * mebibyte);
    for (int i = 0; i < 50'000; ++i) count(table, std::to_string(i));
    auto expected = rows_of(table);
    std::ranges::stable_sort(expected, {},
                             [&](const Row& row) { return partition_of(row.hash, partitions); });
    std::vector<Row> rows;
    table.for_each_partition(
        partitions, [&](std::uint64_t hash) { return partition_of(hash, partitions); },
        [&](std::uint32_t partition, std::uint64_t hash, std::span<const std::byte> key,
            std::int64_t& value) {
          BOOST_REQUIRE_EQUAL(partition, partition_of(hash, partitions));
          rows.push_back({hash, text_of(key), value});
        });
    BOOST_TEST((rows == expected));
  }
}

BOOST_AUTO_TEST_CASE(rows_come_by_hash_and_by_key_where_hashes_are_equal) {
  // Of few hashes, of some that share their upper half, and of all.
  for (const std::uint64_t mask : {std::uint64_t{3}, 0xFFFF'0000'0000'FFFF, ~std::uint64_t{0}}) {
    Counts table(64 * mebibyte);
    std::mt19937 random(5);
    for (int i = 0; i < 3000; ++i) {
      const std::string key = random_key(random, 40, 3);
      count(table, key, hash_of(key) & mask);
    }
    auto expected = rows_of(table);
    std::ranges::sort(expected, [](const Row& a, const Row& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.key < b.key;
    });
    std::vector<Row> rows;
    table.for_each_by_hash([&](std::uint64_t hash, std::span<const std::byte> key, std::int64_t& value) {
      rows.push_back({hash, text_of(key), value});
    });
    BOOST_TEST((rows == expected));
    BOOST_TEST(table.full());
    table.clear();
    count(table, "again");
    BOOST_TEST((rows_of(table) == std::vector<Row>{{hash_of("again"), "again", 1}}));
  }
}

BOOST_AUTO_TEST_CASE(an_empty_table_has_no_rows_in_any_order) {
  Counts table(mebibyte);
  const auto fail = [](auto&&...) { BOOST_ERROR("a row"); };
  table.for_each(fail);
  table.for_each_partition(
      3, [](std::uint64_t) { return 0U; }, fail);
  table.for_each_by_hash(fail);
  table.clear();
  count(table, "key");
  BOOST_TEST(table.size() == 1u);
}

BOOST_AUTO_TEST_CASE(values_are_made_once_and_destroyed_once) {
  const auto shared = std::make_shared<int>(3);
  {
    GroupTable<std::shared_ptr<int>> table(8 * mebibyte);
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 20'000; ++i) {
        const std::string key = std::to_string(i % 10'000);
        auto [value, inserted] = table.find_or_insert(hash_of(key), bytes_of(key));
        BOOST_REQUIRE(inserted == !*value);
        *value = shared;
      }
      BOOST_TEST(shared.use_count() == 10'001);
      table.clear();
      BOOST_TEST(shared.use_count() == 1);
    }
    *table.find_or_insert(1, {}).value = shared;
  }
  BOOST_TEST(shared.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(values_that_can_only_be_moved_can_be_taken_out) {
  GroupTable<std::unique_ptr<int>> table(mebibyte);
  *table.find_or_insert(1, bytes_of("a")).value = std::make_unique<int>(5);
  std::unique_ptr<int> taken;
  table.for_each(
      [&](std::uint64_t, std::span<const std::byte>, auto& value) { taken = std::move(value); });
  BOOST_TEST(*taken == 5);
}

BOOST_AUTO_TEST_CASE(partitions_are_of_about_one_size_and_independent_of_the_lower_half_of_a_hash) {
  for (const std::uint32_t partitions : {1U, 3U, 16U, 1000U}) {
    std::vector<int> sizes(partitions);
    for (std::uint64_t i = 0; i < 1'000'000; ++i) {
      const std::uint32_t partition = partition_of(mixed(i), partitions);
      BOOST_REQUIRE(partition < partitions);
      BOOST_REQUIRE(partition == partition_of(mixed(i) ^ 0x1234'5678, partitions));
      ++sizes[partition];
    }
    const auto [least, most] = std::ranges::minmax(sizes);
    BOOST_TEST(most - least < 400'000 / static_cast<int>(partitions) + 150);
  }
  BOOST_TEST(partition_of(~std::uint64_t{0}, 4'000'000'000) < 4'000'000'000);
}

BOOST_AUTO_TEST_SUITE_END()
